"""An update without an optional field leaves that field as it is."""

import django
from django.conf import settings

settings.configure(INSTALLED_APPS=["django.contrib.contenttypes"], USE_TZ=True)
django.setup()

from django.db import models  # noqa: E402
from rest_framework import serializers  # noqa: E402


class Ticket(models.Model):
    title = models.CharField(max_length=40)
    status = models.CharField(max_length=10, default="open")

    class Meta:
        app_label = "desk"


class TicketSerializer(serializers.ModelSerializer):
    class Meta:
        model = Ticket
        fields = ("title", "status")


ticket = Ticket(title="Door", status="closed")
sent = TicketSerializer(ticket, data={"title": "Front door"})
sent.is_valid(raise_exception=True)
ticket.save = lambda: None
sent.save()
assert ticket.status == "closed", ticket.status
