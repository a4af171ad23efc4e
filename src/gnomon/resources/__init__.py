"""Resources after placement: what tasks use, how it is shared, what happens when there is too little.

Pure parts, without a world: values in, values out (:mod:`gnomon.control` puts them together).
"""
