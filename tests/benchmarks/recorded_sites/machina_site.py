"""A forum in django-machina that guests may read and write. Runs where django-machina is installed."""

import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

from .serving import serve
from .words import Words

PARTS = (
    "forum forum_conversation forum_conversation.forum_attachments forum_conversation.forum_polls forum_feeds "
    "forum_moderation forum_search forum_tracking forum_member forum_permission"
)
TOPICS, MEMBERS = 45, 12


def configure(folder: Path) -> None:
    """The settings that the software's own guide to its installation names."""
    from machina import MACHINA_MAIN_TEMPLATE_DIR

    contexts = ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth"]
    contexts += ["django.contrib.messages.context_processors.messages", "machina.core.context_processors.metadata"]
    contributed = [f"django.contrib.{name}" for name in ("auth", "contenttypes", "sessions", "messages", "staticfiles")]
    middleware = ["sessions.middleware.Session", "auth.middleware.Authentication", "messages.middleware.Message"]
    settings.configure(
        SECRET_KEY="-",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="machina.urls",
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "forum.sqlite"}},
        STATIC_URL="/static/",
        MEDIA_ROOT=folder,
        USE_TZ=True,
        INSTALLED_APPS=[
            *(*contributed, "mptt", "haystack", "widget_tweaks", "machina"),
            *(f"machina.apps.{name}" for name in PARTS.split()),
        ],
        MIDDLEWARE=[
            *(f"django.contrib.{name}Middleware" for name in middleware),
            "django.middleware.csrf.CsrfViewMiddleware",
            "machina.apps.forum_permission.middleware.ForumPermissionMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [MACHINA_MAIN_TEMPLATE_DIR],
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": contexts},
            },
        ],
        CACHES={
            name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name}
            for name in ("default", "machina_attachments")
        },
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
    )


def fill() -> None:
    """Two categories of forums, topics of one post to thirty-four, and members who wrote them."""
    from django.contrib.auth.models import AnonymousUser, User
    from machina.apps.forum.models import Forum
    from machina.apps.forum_conversation.models import Post, Topic
    from machina.apps.forum_permission.shortcuts import assign_perm

    words = Words("forum")
    for name in ("see_forum", "read_forum", "start_new_topics", "reply_to_topics", "post_without_approval"):
        assign_perm(f"can_{name}", AnonymousUser(), None)
    members = [User.objects.create(username=name) for name in words.names(MEMBERS)]
    categories = [Forum.objects.create(name=words.title(), type=Forum.FORUM_CAT) for _ in range(2)]
    forums = [
        Forum.objects.create(name=words.title(), description=words.text(1), parent=parent, type=Forum.FORUM_POST)
        for parent in categories
        for _ in range(3)
    ]
    forums.append(Forum.objects.create(name=words.title(), parent=forums[0], type=Forum.FORUM_POST))
    moment = datetime(2020, 9, 1, tzinfo=timezone.utc)
    for _ in range(TOPICS):
        title, forum = words.title(), words.random.choice(forums)
        kind = words.random.choices([Topic.TOPIC_POST, Topic.TOPIC_STICKY], [9, 1])[0]
        topic = Topic.objects.create(
            forum=forum, poster=members[0], subject=title, type=kind, status=Topic.TOPIC_UNLOCKED
        )
        for number in range(words.random.choice((1, 1, 2, 3, 4, 6, 9, 16, 34))):
            moment += timedelta(minutes=words.random.randrange(5, 900))
            subject = f"Re: {title}" if number else title
            content, poster = words.text(words.random.randint(1, 3)), words.random.choice(members)
            post = Post.objects.create(topic=topic, poster=poster, subject=subject, content=content, approved=True)
            Post.objects.filter(pk=post.pk).update(created=moment, updated=moment)
        Topic.objects.filter(pk=topic.pk).update(poster=topic.first_post.poster, created=moment, last_post_on=moment)
        Forum.objects.filter(pk=forum.pk).update(last_post_on=moment)


if __name__ == "__main__":
    configure(Path(sys.argv[1]))
    django.setup()
    call_command("migrate", verbosity=0)
    fill()
    serve(get_wsgi_application())
