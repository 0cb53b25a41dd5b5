-- What a subscriber's browser may do, and which of its sessions still count.
-- Closed for existing topics too: until now any browser could join them.
ALTER TABLE topics ADD COLUMN joinable_from_browser boolean NOT NULL DEFAULT false;
-- The environment's own choices; absent members follow the service.
ALTER TABLE environments ADD COLUMN inbox_access jsonb;
-- Inbox tokens name both numbers. Raising one ends the tokens made before.
ALTER TABLE environments ADD COLUMN inbox_generation integer NOT NULL DEFAULT 0;
ALTER TABLE subscribers ADD COLUMN inbox_generation integer NOT NULL DEFAULT 0;
