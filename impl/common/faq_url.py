"""FAQUrl: the page that some remarks name."""

from __future__ import annotations

SUGGEST_TODO = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
"""FAQUrl#suggestTodo; all of its pages are this one."""
