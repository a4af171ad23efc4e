// From files a browser starts no workers: there the search runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.document.open()
      inside.document.write("<body>")
      inside.document.close()
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise(done => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = () => done(inside)
        inside.document.body.append(script)
      })
    }

    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
  }
}
