-- Every step of a workflow, those in the arms of its branches included. `place` orders them as a run meets them.
CREATE FUNCTION all_steps(steps jsonb) RETURNS TABLE (step jsonb, place int[]) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  WITH RECURSIVE found (step, place) AS (
    SELECT top.step, ARRAY[top.n::int] FROM jsonb_array_elements(steps) WITH ORDINALITY AS top (step, n)
    UNION ALL
    SELECT below.step, found.place || ARRAY[arm.n::int, below.n::int]
    FROM found
    CROSS JOIN LATERAL jsonb_array_elements(
      jsonb_path_query_array(found.step, '$.controlValues.arms[*]') || jsonb_path_query_array(found.step, '$.controlValues.default')
    ) WITH ORDINALITY AS arm (arm, n)
    CROSS JOIN LATERAL jsonb_array_elements(jsonb_path_query_array(arm.arm, '$.steps[*]')) WITH ORDINALITY AS below (step, n)
    WHERE found.step ->> 'type' = 'branch'
  )
  SELECT found.step, found.place FROM found
$$;
