"""A shop in Cartridge, with the blog of Mezzanine that comes with it. Runs where Cartridge is installed."""

import locale
import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import django
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

from .serving import serve
from .words import Words

PRODUCTS, POSTS = 220, 40
SETTINGS = """
SECRET_KEY = NEVERCACHE_KEY = "-"
SHOP_CURRENCY_LOCALE = "C.UTF-8"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite"}}
"""
MONEY = {"frac_digits": 2, "currency_symbol": "$", "p_cs_precedes": 1, "p_sep_by_space": 0, "p_sign_posn": 1}
"""What the locale C lacks, and each machine has."""


def configure(folder: Path) -> None:
    """Make a project as the software makes it."""
    os.chdir(folder)
    subprocess.run([Path(sys.executable).with_name("mezzanine-project"), "-a", "cartridge", "bazaar"], check=True)
    os.chdir("bazaar")
    Path("bazaar", "local_settings.py").write_text(SETTINGS, encoding="utf-8")
    sys.path.insert(0, str(Path.cwd()))
    os.environ["DJANGO_SETTINGS_MODULE"] = "bazaar.settings"
    locale._override_localeconv.update(MONEY, mon_decimal_point=".")  # type: ignore[attr-defined]


def fill() -> None:
    """Categories in two levels, products with sizes, some on sale or rated, and posts of a blog."""
    from cartridge.shop.models import Category, Product, ProductOption, ProductVariation
    from django.contrib.auth.models import User
    from mezzanine.blog.models import BlogCategory, BlogPost
    from mezzanine.pages.models import RichTextPage

    words = Words("shop")
    start = datetime(2020, 9, 1, tzinfo=timezone.utc)
    sizes = [ProductOption.objects.create(type=1, name=name).name for name in words.names(3)]
    roots = [Category.objects.create(title=words.title(1, 2), content=words.text(1)) for _ in range(4)]
    categories = [
        Category.objects.create(title=words.title(1, 2), content=words.text(1), parent=root)
        for root in roots
        for _ in "ab"
    ]
    for number in range(PRODUCTS):
        title, price = words.title(1, 3), Decimal(words.random.randrange(199, 9999)) / 100
        date = start + timedelta(days=number)
        product = Product.objects.create(
            title=title,
            content=f"<p>{words.text(3)}</p>",
            available=True,
            publish_date=date,
            rating_average=number * 7 % 50 / 10,
            rating_count=number % 7,
        )
        Product.objects.filter(pk=product.pk).update(date_added=date)
        chosen = words.random.choice(categories)
        product.categories.set([chosen, chosen.parent.category])
        product.related_products.set(Product.objects.order_by("pk")[number // 2 : number // 2 + 2])
        ProductVariation.objects.filter(product=product).delete()
        for size in sizes[: 1 + number % 3]:
            sku = f"{number}-{size}"
            ProductVariation.objects.create(product=product, sku=sku, option1=size, unit_price=price, num_in_stock=9)
        product.variations.set_default_images([])
        product.variations.filter(option1=sizes[0]).update(default=True)
        product.copy_default_variation()
    RichTextPage.objects.create(title=words.title(1, 1), slug="blog")
    author = User.objects.create(username=words.names(1)[0], is_staff=True)
    topics = [BlogCategory.objects.create(title=word) for word in words.names(4)]
    for number in range(POSTS):
        content, date = f"<p>{words.text(4)}</p>", start + timedelta(days=17 * number)
        post = BlogPost.objects.create(user=author, title=words.title(), content=content, publish_date=date, status=2)
        post.categories.set(words.random.sample(topics, 2))


if __name__ == "__main__":
    configure(Path(sys.argv[1]))
    django.setup()
    call_command("migrate", verbosity=0)
    fill()
    serve(get_wsgi_application())
