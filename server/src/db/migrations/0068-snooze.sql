-- Until then, a subscriber gets no commercial email, SMS, chat or push message.
ALTER TABLE subscribers ADD COLUMN snoozed_until timestamptz(3);
