-- Whether API keys reach across: keys of other environments into this one (publishing), and its own keys into what all
-- environments share. Null is the default of the brand.
ALTER TABLE environments ADD COLUMN open_to_keys boolean;
