-- Whether the last call of a step was cut off: it may have arrived. Null for nearly all.
ALTER TABLE jobs ADD COLUMN cut_off boolean;
