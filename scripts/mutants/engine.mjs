// Faults in what happens to a trigger until its last step has ended.
export const engine = {
  'server/src/engine/runs/trigger.ts': [
    {
      breaks: 'dedup is kept for hours instead of days',
      from: 'dedupDays * 86_400_000',
      to: 'dedupDays * 3_600_000',
    },
    {
      breaks: 'a refusal by a stale memory is final',
      from: "return (rows[0]?.revision ?? '0') === revision",
      to: 'return true',
    },
    {
      tests: ['server/src/http/triggers/events.test.ts'],
      breaks: 'a workflow that is off is triggered',
      from: "if (!(tenant?.active ?? workflow.active)) return 'trigger_not_active'",
      to: '',
    },
    {
      breaks: 'triggers that failed to start at once are lost',
      from: 'return this.#store(triggers)\n',
      to: "return triggers.map(() => 'stored')\n",
    },
    {
      tests: ['server/src/http/triggers/events.test.ts'],
      breaks: 'a payload is not validated',
      from: 'workflow.validate_payload && workflow.payload_schema',
      to: 'workflow.validate_payload && !workflow.payload_schema',
    },
    {
      breaks: 'a stale trigger counts as stored',
      from: "isFresh(each) ? 'stored' : 'stale'",
      to: "isFresh(each) ? 'stored' : 'stored'",
    },
  ],
  'server/src/engine/core/statements.ts': [
    {
      tests: ['server/src/engine/runs/trigger.test.ts'],
      breaks: 'a trigger judged by a stale memory is accepted',
      from: 'WHERE coalesce(r.revision, 0) = d.revision',
      to: 'WHERE coalesce(r.revision, 0) >= d.revision',
    },
  ],
}
