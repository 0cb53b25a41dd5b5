// Faults in time and order that the scenario files of the documentation must notice by themselves.
const alone = { alone: true, tests: ['server/test/scenarios.test.ts'] }

export const scenarios = {
  'server/src/steps/kinds/digest.ts': [
    {
      ...alone,
      breaks: 'a digest ends a minute late',
      from: 'const end = found.until ?? until\n',
      to: 'const end = found.until ?? new Date(until.getTime() + 60_000)\n',
    },
  ],
  'server/src/steps/delivery/policy.ts': [
    {
      ...alone,
      breaks: 'the first wait before another attempt is doubled already',
      from: 'policy.firstWaitMs * 2 ** (calls - 1)',
      to: 'policy.firstWaitMs * 2 ** calls',
    },
  ],
  'server/src/engine/runs/run.ts': [
    {
      ...alone,
      breaks: 'preferences are asked before the schedule',
      from: 'shut ?? filtered(view, kind) ?? snoozed',
      to: 'filtered(view, kind) ?? shut ?? snoozed',
    },
  ],
  'server/src/engine/runs/step-guards.ts': [
    {
      ...alone,
      breaks: 'a preference does not hold back a step',
      from: 'if (resolved.enabled) return undefined\n  const line',
      to: 'if (resolved.enabled || channel) return undefined\n  const line',
    },
  ],
}
