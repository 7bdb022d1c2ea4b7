"""Read what people have said elsewhere: exports of chats, and what other memories hold."""
