"""Plain words for problems about text."""

_TEXT = """
adventure airport almond anchor animal apple apricot autumn avocado balloon banana basket battery beetle bicycle
biscuit blanket blossom blueberry border bottle bracelet breakfast bridge brother bubble bucket building butter
button cabbage cactus calendar camera candle canyon caramel carpet carrot castle ceiling cherry chicken chimney
chocolate cinnamon circle coconut coffee committee compass computer cottage cotton cousin cracker cricket crystal
cucumber curtain cushion daffodil daughter desert diamond dinner dolphin donkey dragon drawer eagle elephant
engine envelope evening factory feather festival finger firefly flamingo flower forest fountain freckle galaxy
garden garlic ginger giraffe grammar grape guitar hammer harbor harvest hazelnut helmet hippopotamus holiday
honey horizon hospital island jacket jigsaw journey jungle kangaroo kettle keyboard kitchen ladder lantern lemon
leopard letter lettuce library lizard lobster magazine mammal mango marble meadow melody message mirror
mississippi morning mosquito mountain mushroom mustard napkin needle noodle notebook nutmeg ocean office onion
orange orchard oyster paddle pancake panther parrot peanut pebble pelican pencil penguin pepper piano picture
pigeon pillow pineapple planet pocket postcard potato pottery puddle pumpkin puppet puzzle pyramid quarter rabbit
raccoon radish raspberry ribbon river rocket saddle sandwich scissors season shadow shelter shoulder silver sister
snowflake spinach squirrel stadium station strawberry street sugar summer sunflower teacher telescope thunder
ticket tiger tomato traffic treasure triangle trumpet tulip tunnel turtle umbrella valley vanilla village violin
volcano waffle walnut weather whisper whistle window winter wisdom woodpecker yellow yesterday zebra zucchini
"""
WORDS = tuple(_TEXT.split())

PEOPLE = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo", "Iris", "Jon", "Kim", "Leo", "Mia", "Noah")

CITIES = ("Bergen", "Cairo", "Delhi", "Lima", "Oslo", "Porto", "Quito", "Rome", "Tokyo", "Turin", "Vienna", "Zagreb")

GOODS = ("apples", "bags", "books", "chairs", "cups", "lamps", "pens", "plates", "shirts", "shoes", "socks", "tables")
