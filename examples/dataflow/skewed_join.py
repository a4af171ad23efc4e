"""Orders with their customers' countries, summed by country. One customer has 40 % of the orders.

All orders of a customer go to one partition, whatever the number of partitions is. `salted` spreads the hot key over
four partitions, at the price of sending the customers four times.
"""

from operator import add

from gnomon.dataflow import Dataflow

ORDERS = 4_000
SALTS = 4

orders = [(7 if number % 5 < 2 else number % 499, 1 + number % 90) for number in range(ORDERS)]
customers = [(number, f"country-{number % 12}") for number in range(500)]


def by_country(pair):
    _, (amount, country) = pair
    return country, amount


def salted_order(order):
    customer, amount = order
    return (customer, amount % SALTS), amount


def salted_customer(customer):
    number, country = customer
    return [((number, salt), country) for salt in range(SALTS)]


flow = Dataflow("orders by country")
left = flow.source(orders, partitions=8, name="orders")
right = flow.source(customers, partitions=2, name="customers")

joined = left.join(right, partitions=8, name="by customer")
joined.map(by_country).reduce_by_key(add, partitions=4, name="sums").collect(name="plain")

spread = left.map(salted_order).join(right.flat_map(salted_customer), partitions=8, name="by customer and salt")
spread.map(by_country).reduce_by_key(add, partitions=4, name="sums of salted").collect(name="salted")
