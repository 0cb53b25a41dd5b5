// Faults in how a message reaches a provider: choice, retry, failover, circuits, filters.
const dispatching = { tests: ['server/src/steps/delivery/dispatch.test.ts'] }
const pushing = { tests: ['server/src/steps/kinds/push.test.ts'] }
const choosing = { tests: ['server/src/steps/delivery/dispatch.test.ts', 'server/src/steps/kinds/email.test.ts'] }

export const delivery = {
  'server/src/steps/delivery/policy.ts': [
    { breaks: 'a message is given up after 24 minutes', from: 'budgetMs: 24 * hour', to: 'budgetMs: 24 * minute' },
    {
      breaks: 'an integration is called once more before another gets its turn',
      from: 'standing.callsHere >= policy.callsBeforeFailover',
      to: 'standing.callsHere > policy.callsBeforeFailover',
    },
    {
      breaks: 'a message that may have arrived is sent again and again',
      from: 'standing.uncertainCalls >= policy.mostUncertainCalls',
      to: 'standing.uncertainCalls > policy.mostCalls',
    },
    {
      breaks: 'a provider that drops repetitions is treated as one that does not',
      from: 'failure.mayHaveArrived && !circumstances.isIdempotent',
      to: 'failure.mayHaveArrived',
    },
    {
      breaks: 'Retry-After is read as milliseconds',
      from: 'const askedMs = (failure.afterSeconds ?? 0) * second',
      to: 'const askedMs = failure.afterSeconds ?? 0',
    },
    {
      breaks: 'a provider that asks to be left alone is called before that',
      from: "where === 'here' ? Math.max(plannedMs, askedMs) : plannedMs",
      to: 'plannedMs',
    },
    { breaks: 'the first wait is skipped', from: '2 ** (calls - 1)', to: '2 ** calls' },
    {
      breaks: 'an address that cannot be reached is tried again',
      from: "if (kind === 'never' || kind === 'address')",
      to: "if (kind === 'never')",
    },
    {
      breaks: 'those who failed together come back together',
      from: 'Math.round(ms / 2 + (ms / 2) * random())',
      to: 'Math.round(ms)',
    },
  ],
  'server/src/steps/delivery/circuit-breaker.ts': [
    {
      breaks: 'a circuit opens one failure late',
      from: 'circuit.failures < limits.failures',
      to: 'circuit.failures <= limits.failures',
    },
    {
      breaks: 'a success does not close a circuit',
      from: '{ failures: 0, openings: 0, openUntil: undefined, hasSucceeded: true }',
      to: '{ hasSucceeded: true }',
    },
    {
      breaks: 'failures need not be in a row',
      from: '{ failures: 0, openings: 0, openUntil: undefined, hasSucceeded: true }',
      to: '{ openings: 0, openUntil: undefined, hasSucceeded: true }',
    },
    {
      breaks: 'an open circuit lets many messages through at once',
      from: 'if (isProbe) circuit.isProbing = true',
      to: '',
    },
    {
      breaks: 'a probe that was released blocks the circuit',
      from: 'if (isProbe) circuit.isProbing = false',
      to: '',
    },
    {
      breaks: 'a circuit that fails again stays open no longer than before',
      from: 'limits.firstOpenMs * 2 ** circuit.openings',
      to: 'limits.firstOpenMs',
    },
    {
      breaks: 'one environment’s failures close another’s integration',
      from: '`${key.environmentId} ${key.integrationId} ${key.host}`',
      to: '`${key.host}`',
    },
    {
      breaks: 'a call that has ended goes on counting',
      from: 'lane.inFlight.delete(call)',
      to: '',
    },
    {
      breaks: 'nobody is woken when a call ends',
      from: 'next?.take()',
      to: '',
    },
    {
      breaks: 'an outage of a provider opens no circuit',
      from: "  'unavailable',\n",
      to: '',
    },
  ],
  'server/src/steps/delivery/attempt.ts': [
    {
      ...dispatching,
      breaks: 'a call that was cut off is made again, whatever the integration says',
      from: 'if (!this.#holds(integration) && progress.uncertainCalls < policy.mostUncertainCalls) return true',
      to: 'if (progress.uncertainCalls < policy.mostUncertainCalls) return true',
    },
    {
      ...dispatching,
      breaks: 'a call that was cut off is repeated without end',
      from: 'if (!this.#holds(integration) && progress.uncertainCalls < policy.mostUncertainCalls) return true',
      to: 'if (!this.#holds(integration)) return true',
    },
    {
      ...dispatching,
      breaks: 'nobody learns that a message may have arrived twice',
      from: "if (progress.uncertainCalls > 0) this.#note(detail('maybe_twice'))",
      to: '',
    },
    {
      ...pushing,
      breaks: 'a device that is gone is not forgotten',
      from: "if (error.kind === 'address') this.details.push",
      to: "if (error.kind === 'never') this.details.push",
    },
    {
      ...dispatching,
      breaks: 'an integration that refused is asked again',
      from: "if (error.kind === 'failover' || error.kind === 'credentials') progress.refusedBy.push(integration.id)",
      to: '',
    },
    {
      ...dispatching,
      breaks: 'uncertain calls are not counted',
      from: 'if (error.mayHaveArrived && !dropsRepeats) progress.uncertainCalls += 1',
      to: '',
    },
    {
      ...dispatching,
      breaks: 'a fault of ours blocks the integration for good',
      from: "        pass.release()\n        count('internal')",
      to: "        count('internal')",
    },
  ],
  'server/src/steps/delivery/dispatch.ts': [
    {
      ...pushing,
      breaks: 'what was sent is sent again when another destination is retried',
      from: "return status === 'waiting' ? [{ destination,",
      to: "return status !== 'failed' ? [{ destination,",
    },
    {
      ...pushing,
      breaks: 'a destination is called before its time',
      from: 'left.filter(({ dueAt }) => dueAt <= until)',
      to: 'left.filter(({ dueAt }) => dueAt <= until + 86_400_000)',
    },
    {
      breaks: 'a call that was cut off waits once more if the clock went back',
      from: 'Math.max(now.getTime(), Math.min(...left.map(({ dueAt }) => dueAt)))',
      to: 'now.getTime()',
    },
    {
      ...pushing,
      breaks: 'the step comes back when the last destination is due, not the first',
      from: 'new Date(Math.min(...waiting))',
      to: 'new Date(Math.max(...waiting))',
    },
  ],
  'server/src/steps/delivery/progress.ts': [
    {
      ...pushing,
      breaks: 'a redriven step sends what was sent already',
      from: "each.status === 'sent' ? each : begun(now)",
      to: 'begun(now)',
    },
  ],
  'server/src/steps/delivery/report.ts': [
    {
      ...dispatching,
      breaks: 'a message that failed is stored as sent',
      from: "status: sent ? 'sent' : told?.status === 'failed' && !isSuppressed(told) ? 'error' : 'warning'",
      to: "status: told?.status === 'failed' ? 'sent' : 'warning'",
    },
  ],
  'server/src/steps/delivery/integration-choice.ts': [
    {
      breaks: 'the sandbox takes over for a provider that refuses',
      tests: ['server/src/steps/delivery/dispatch.test.ts'],
      from: '...others.filter((other) => isSandbox(other) === isSandbox(first))',
      to: '...others',
    },
    {
      ...choosing,
      breaks: 'the integration a trigger names is one of many',
      from: 'return ofChannel.filter((row) => row.identifier === identifier)',
      to: 'return ofChannel',
    },
    {
      ...choosing,
      breaks: 'integrations of a tenant serve everybody',
      from: 'const forAll = ofChannel.filter(({ conditions }) => conditions.length === 0)',
      to: 'const forAll = ofChannel',
    },
    {
      tests: ['server/src/steps/delivery/integration-choice.test.ts'],
      breaks: 'the last in rank is asked first',
      from: 'b.priority - a.priority',
      to: 'a.priority - b.priority',
    },
  ],
  'server/src/steps/delivery/step-filter.ts': [
    { breaks: 'a negated filter is not negated', from: 'verdict !== isNegated : verdict', to: 'verdict : verdict' },
    {
      breaks: 'no filter at all holds a step back',
      from: 'return filters.length === 0 || any(',
      to: 'return filters.length !== 0 && any(',
    },
    {
      breaks: 'minutes online count as milliseconds',
      from: 'amount * unitSeconds[unit] * 1000',
      to: 'amount * unitSeconds[unit]',
    },
    {
      breaks: 'the upper end of a range is left out',
      from: 'fromLow >= 0 && toHigh <= 0',
      to: 'fromLow >= 0 && toHigh < 0',
    },
  ],
}
