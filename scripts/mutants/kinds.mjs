// Faults in what a step does, and in the conditions that decide whether it runs.
const branching = { tests: ['server/src/steps/kinds/branch.test.ts'] }
const delaying = { tests: ['server/src/steps/kinds/delay.test.ts'] }

export const kinds = {
  'server/src/steps/kinds/branch.ts': [
    {
      ...branching,
      breaks: 'an arm never ends the run',
      from: 'ended: ends === true',
      to: 'ended: false',
    },
    {
      ...branching,
      breaks: 'a run whose branch cannot be decided goes on',
      from: 'stops: true,',
      to: 'stops: false,',
    },
  ],
  'server/src/steps/kinds/duration.ts': [
    {
      ...delaying,
      breaks: 'a delay is a thousand times too short',
      from: 'unitSeconds[unit as keyof typeof unitSeconds] * 1000)',
      to: 'unitSeconds[unit as keyof typeof unitSeconds])',
    },
    { ...delaying, breaks: 'a delay of nothing is allowed', from: 'amount <= 0)', to: 'amount < 0)' },
    {
      ...delaying,
      breaks: 'a date without a zone is local',
      from: 'hasZone ? value : `${value}Z`',
      to: 'hasZone ? value : `${value}+09:00`',
    },
    {
      ...delaying,
      breaks: 'a cron expression is read in UTC',
      from: 'const zone = zoneOf(timezone)\n  const cron',
      to: "const zone = 'UTC'\n  const cron",
    },
    {
      ...delaying,
      breaks: 'a wait may last 180 hours at most',
      from: 'longestWaitDays * 86_400_000',
      to: 'longestWaitDays * 3_600_000',
    },
  ],
  'server/src/steps/kinds/delay.ts': [
    { breaks: 'a moment that is past fails instead of passing', from: 'if (until < now) {', to: 'if (until > now) {' },
    {
      breaks: 'a trigger cannot replace the delay',
      from: '(run.event.overrides.delay ?? values)',
      to: '(values ?? run.event.overrides.delay)',
    },
    {
      breaks: 'the result says when, not how long',
      from: 'now.getTime() - job.createdAt.getTime()',
      to: 'now.getTime()',
    },
  ],
  'server/src/steps/kinds/digest.ts': [
    {
      breaks: 'a digest loses the event of its own run',
      from: ': [own, ...others]',
      to: ': others.length > 0 ? others : [own]',
    },
    {
      breaks: 'events that are left out are not counted',
      from: 'eventCount: others.length + 1 + left',
      to: 'eventCount: others.length + 1',
    },
    {
      breaks: 'an event moves the end of a sliding window beyond its longest',
      from: 'says(longest >= ms,',
      to: 'says(true,',
    },
    {
      breaks: 'a digest does not go by its key',
      from: 'digestKey === undefined ? noValue : groupValue(',
      to: 'digestKey !== undefined ? noValue : groupValue(',
    },
  ],
  'server/src/steps/kinds/throttle.ts': [
    {
      breaks: 'one run too many passes',
      from: 'Math.max(1, Math.trunc(Number(values.threshold ?? 1)) || 1)',
      to: 'Math.max(1, Math.trunc(Number(values.threshold ?? 1)) || 1) + 1',
    },
    {
      breaks: 'what is throttled goes on',
      from: 'if (!pass.isThrottled) return',
      to: 'if (!pass.isThrottled || threshold > 0) return',
    },
  ],
  'server/src/steps/conditions/conditions.ts': [
    { breaks: 'an empty condition holds nobody', from: 'isEmpty ? () => true :', to: 'isEmpty ? () => false :' },
    {
      breaks: 'a condition that cannot be evaluated holds',
      from: 'return { error: asConditionError(error) }\n  }\n}',
      to: 'return { holds: true, value: asConditionError(error) }\n  }\n}',
    },
    {
      breaks: 'a choice without an else takes the wrong branch',
      from: 'operands.length % 2 === 1 ? operands',
      to: 'operands.length % 2 === 0 ? operands',
    },
    {
      breaks: 'large rules are evaluated',
      from: 'function compile(rule: unknown): Program {\n  refuseLarge(rule)\n',
      to: 'function compile(rule: unknown): Program {\n',
    },
  ],
  'server/src/steps/contract/need.ts': [
    {
      tests: ['server/src/steps/kinds/throttle.test.ts', 'server/src/steps/kinds/digest.test.ts'],
      breaks: 'subscribers share digests and throttles',
      from: '  subscriberRowId: run.subscriber.id,\n  value,',
      to: "  subscriberRowId: '',\n  value,",
    },
    {
      tests: ['server/src/steps/kinds/throttle.test.ts', 'server/src/steps/kinds/digest.test.ts'],
      breaks: 'steps of a workflow share digests and throttles',
      from: '  stepRowId: step._id,\n  subscriberRowId: run',
      to: "  stepRowId: '',\n  subscriberRowId: run",
    },
  ],
}
