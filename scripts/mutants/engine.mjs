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
      breaks: 'triggers that failed to start at once are lost',
      from: 'return this.#store(triggers)\n',
      to: "return triggers.map(() => 'stored')\n",
    },
    {
      breaks: 'a stale trigger counts as stored',
      from: "isFresh(each) ? 'stored' : 'stale'",
      to: "isFresh(each) ? 'stored' : 'stored'",
    },
  ],
  'server/src/engine/runs/judge.ts': [
    {
      tests: ['server/src/http/triggers/events.test.ts'],
      breaks: 'a workflow that is off is triggered',
      from: "if (!(tenant?.active ?? workflow.active)) return 'trigger_not_active'",
      to: '',
    },
    {
      tests: ['server/src/http/triggers/events.test.ts'],
      breaks: 'a payload is not validated',
      from: 'if (!workflow.validate_payload || !workflow.payload_schema) return payload',
      to: 'if (workflow.steps.length || !workflow.payload_schema) return payload',
    },
  ],
  'server/src/engine/core/accept-statements.ts': [
    {
      tests: ['server/src/engine/runs/trigger.test.ts'],
      breaks: 'a trigger judged by a stale memory is accepted',
      from: 'WHERE coalesce(r.revision, 0) = d.revision',
      to: 'WHERE coalesce(r.revision, 0) >= d.revision',
    },
  ],
  'server/src/engine/runs/run.ts': [
    {
      breaks: 'a cancelled wait goes on when its time comes',
      tests: ['server/src/engine/runs/cancel.test.ts'],
      from: "if (job.status === 'delayed') return yield* wake",
      to: "if (job.status === 'delayed' || job.status === 'canceled') return yield* wake",
    },
    {
      breaks: 'a retry that is due is not called',
      tests: ['server/src/steps/delivery/dispatch.test.ts'],
      from: 'job.isChanged = true\n  run.effects.calls.push(job.position)',
      to: 'job.isChanged = true',
    },
    {
      breaks: 'a step goes on although its condition does not hold',
      from: 'if (!condition.holds) return skippedBy(kind)',
      to: '',
    },
    {
      breaks: 'the rest goes on after a failure that should stop it',
      from: 'if (!job.asked && (outcome.stops || job.step.shouldStopOnFail === true)) stopRest(run, now)',
      to: 'if (!job.asked && outcome.stops) stopRest(run, now)',
    },
    {
      breaks: 'a wait leaves no timer',
      from: 'run.effects.timers.push({ position: job.position, dueAt })',
      to: '',
    },
    {
      breaks: 'later steps do not see what a step gave',
      from: 'run.results[job.step.stepId] = resultOf(job)\n  return true',
      to: 'return true',
    },
    {
      breaks: 'a template that cannot be rendered takes the whole group down',
      from: 'if (error instanceof RenderError) return contentFailed(error, stops)',
      to: '',
    },
  ],
  'server/src/engine/runs/run-state.ts': [
    {
      tests: ['server/src/engine/runs/run.test.ts'],
      breaks: 'a run ends as completed although a step failed',
      from: 'run.jobs.some(hasFailed) && !run.goals?.met',
      to: 'run.jobs.every(hasFailed) && !run.goals?.met',
    },
    {
      tests: ['server/src/engine/runs/run.test.ts'],
      breaks: 'a run ends while steps are left',
      from: 'if (!run.jobs.every(isEnded)) return',
      to: 'if (!run.jobs.some(isEnded)) return',
    },
  ],
  'server/src/engine/runs/step-guards.ts': [
    {
      tests: ['server/src/engine/runs/run.test.ts'],
      breaks: 'a critical workflow waits for the schedule',
      from: 'if (!kind.obeysSchedule || isStillCritical(run)) return undefined',
      to: 'if (!kind.obeysSchedule) return undefined',
    },
    {
      tests: ['server/src/engine/runs/run.test.ts'],
      breaks: 'what a subscriber has turned off is sent',
      from: 'if (resolved.enabled) return undefined',
      to: 'if (resolved.enabled || channel) return undefined',
    },
    {
      tests: ['server/src/engine/runs/run.test.ts'],
      breaks: 'what a subscriber wants of one workflow is ignored',
      from: 'subscriberWorkflow: run.preferences?.workflow,',
      to: 'subscriberWorkflow: undefined,',
    },
    {
      tests: ['server/src/steps/kinds/digest.test.ts'],
      breaks: 'a wait is extended once too often',
      from: 'job.scheduleExtensions >= mostScheduleExtensions',
      to: 'job.scheduleExtensions > mostScheduleExtensions',
    },
  ],
  'server/src/engine/runs/deliver.ts': [
    {
      breaks: 'a result of an older attempt overwrites that of the newer one',
      from: 'if (job.attempts === attempts) return [{ run, progress',
      to: 'if (job.attempts >= attempts) return [{ run, progress',
    },
    {
      tests: ['server/src/steps/delivery/dispatch.test.ts'],
      breaks: 'a call that was cut off passes for a fresh one',
      from: 'const isRepeated = isCutOff === true',
      to: 'const isRepeated = isCutOff === true && attempts > 50',
    },
    {
      breaks: 'a step named twice is called twice',
      from: '          taken.delete(nameOf(key))\n',
      to: '',
    },
    {
      breaks: 'calls that could not be recorded count as done',
      from: "if (failures.length > 0) throw new AggregateError(failures, 'Some calls could not be recorded.')",
      to: '',
    },
    {
      breaks: 'a run that others have changed loses the end of its call',
      from: 'rest.push(...plain.keys())',
      to: '',
    },
    {
      breaks: 'a call is ended without what follows it',
      tests: ['server/src/engine/feedback/webhooks.test.ts'],
      from: 'return done && isPlain(ending) ?',
      to: 'return done ?',
    },
    {
      breaks: 'a workflow in production may call this machine',
      tests: ['server/src/steps/kinds/http-request.test.ts'],
      from: "http: environment.facts.type === 'dev' ? http.development : http,",
      to: 'http: http.development,',
    },
  ],
  'server/src/engine/runs/begun-calls.ts': [
    {
      breaks: 'a worker that stops goes on to begin calls',
      from: 'if (this.#isStopping) throw new NotBegun()',
      to: '',
    },
    {
      breaks: 'a worker that was taken for dead begins what it took before',
      from: ' && each.call.holder === holder',
      to: '',
    },
    {
      breaks: 'a worker that is no longer listed begins calls',
      from: 'if (rows[0]?.mark_begun) marks.written()',
      to: 'marks.written()',
    },
    {
      breaks: 'calls that wait for a slot count as begun',
      from: 'Math.min(calls, mostBegunAtOnce - this.#begunAtOnce)',
      to: 'calls',
    },
    {
      breaks: 'notes of ended calls are never removed',
      from: 'if (group.left === 0) this.#ended.push(group.seq)',
      to: '',
    },
  ],
  'server/src/engine/queue/presence.ts': [
    {
      breaks: 'calls of a dead worker that had not begun count as begun',
      tests: ['server/src/engine/runs/begun-calls.test.ts'],
      from: 'if (taken.length > 0)',
      to: 'if (taken.length > 1e9)',
    },
  ],
  'server/src/engine/runs/timers.ts': [
    {
      breaks: 'only the first group of what is due is woken',
      from: 'if (oldest.length < timersAtOnce) return total',
      to: 'return total',
    },
    {
      breaks: 'one environment with very many waits holds up all others',
      from: 'if (round % turnEvery === 1) {',
      to: 'if (round % turnEvery === turnEvery) {',
    },
  ],
  'server/src/engine/core/memory.ts': [
    {
      tests: ['server/src/engine/runs/run.test.ts'],
      breaks: 'a run goes on with the newest version of its workflow',
      from: 'if (current?.version === version) return',
      to: 'if (current) return',
    },
    {
      tests: ['server/src/engine/runs/trigger.test.ts', 'server/src/http/triggers/events.test.ts'],
      breaks: 'a workflow that does not exist is remembered as missing',
      from: 'void loading.then((found) => found === undefined && forget(), forget)\n    return loading\n  }\n}',
      to: 'return loading\n  }\n}',
    },
  ],
  'server/src/engine/core/fair-share.ts': [
    {
      breaks: 'who has asked for much is never forgiven',
      from: '2 ** (-Math.max(0, now - at) / halfLifeMs)',
      to: '2 ** 0',
    },
    { breaks: 'a flood goes first', from: 'return owed < unhindered ? 0 :', to: 'return owed > unhindered ? 0 :' },
  ],
  'server/src/engine/core/group-commit.ts': [
    {
      breaks: 'one that cannot be stored takes the others with it',
      from: 'if (entries.length === 1 || this.#isShared(error))',
      to: 'if (entries.length >= 1 || this.#isShared(error))',
    },
    { breaks: 'a group grows beyond its size', from: 'size + entry.size > mostSize', to: 'size > mostSize * 2' },
    {
      breaks: 'a flood of one owner goes before everybody else',
      from: 'this.#waiting = inTurn(this.#waiting, ownerOf)',
      to: 'this.#waiting = [...this.#waiting]',
    },
    { breaks: 'a lane that is done is never free again', from: 'this.#busyLanes -= 1', to: 'this.#busyLanes -= 0' },
  ],
  'server/src/engine/core/preferences.ts': [
    {
      breaks: 'a subscriber can turn off a critical workflow',
      from: 'critical ? [] : [layers.subscriberWorkflow, layers.subscriberGlobal]',
      to: '[layers.subscriberWorkflow, layers.subscriberGlobal]',
    },
    {
      breaks: 'the global choice wins over the one for the workflow',
      from: "if (perWorkflow !== undefined) return decided(perWorkflow, 'subscriberWorkflow')\n",
      to: "if (perWorkflow !== undefined && subscriberGlobal?.[channel] === undefined) return decided(perWorkflow, 'subscriberWorkflow')\n",
    },
    {
      breaks: 'a condition that fails lets everything through',
      from: "if ('error' in result) return { passes: false, reason: 'condition_failed' }",
      to: "if ('error' in result) return { passes: true, reason: 'condition_failed' }",
    },
    {
      breaks: 'a condition that is merely truthy lets through',
      from: 'return result.value === true\n',
      to: 'return result.value\n',
    },
  ],
  'server/src/engine/core/schedule.ts': [
    {
      breaks: 'a schedule is read in UTC',
      from: "isOpenAt(week, now.getTime(), timezone ?? 'UTC')",
      to: "isOpenAt(week, now.getTime(), 'UTC')",
    },
    { breaks: 'midnight is noon', from: '((Number(hour) % 12) +', to: '(Number(hour) +' },
    {
      breaks: 'a range over midnight ends at midnight',
      from: 'rangesOn(week, today - 1).some(({ start, end }) => end < start && minute <= end)',
      to: 'rangesOn(week, today - 1).some(({ start, end }) => end < start && minute > end)',
    },
    {
      breaks: 'the last minute is closed',
      from: '(minute <= end || end < start)',
      to: '(minute < end || end < start)',
    },
  ],
  'server/src/engine/runs/cancel.ts': [
    {
      breaks: 'a cancel reaches the runs of other environments',
      from: "'DELETE FROM walks WHERE environment_id = $1 AND event_id = $2 RETURNING lane'",
      to: "'DELETE FROM walks WHERE environment_id = $1 AND event_id <> $2 RETURNING lane'",
    },
    {
      breaks: 'what a cancelled digest has collected is lost',
      from: 'if (digests.length > 0) await handOver(transaction, parts.memory, environmentId, digests, now)',
      to: '',
    },
    {
      breaks: 'a cancel answers that there was nothing to cancel',
      from: 'if (canceled.length === 0) return 0',
      to: 'if (canceled.length >= 0) return 0',
    },
    {
      breaks: 'a digest that changes hands ends too late',
      from: 'dueAt: dueAt ?? now,',
      to: 'dueAt: new Date(now.getTime() + 86_400_000),',
    },
  ],
  'server/src/engine/runs/canceling.ts': [
    {
      tests: ['server/src/engine/runs/cancel.test.ts'],
      breaks: 'a trigger with nothing that waits loses its later steps',
      from: "if (found.every(({ was }) => was === 'pending')) return []",
      to: '',
    },
  ],
  'server/src/engine/runs/clock.ts': [
    {
      tests: ['server/src/http/organization/clock.test.ts'],
      breaks: 'an advance passes waits by',
      from: 'const at = isWait ? next.due_at : to',
      to: 'const at = to',
    },
    {
      tests: ['server/src/http/organization/clock.test.ts'],
      breaks: 'a clock is set back after triggers were taken',
      from: "throw new ClockRefused({ code: 'clock_started' })",
      to: 'undefined',
    },
  ],
  'server/src/engine/simulation/play.ts': [
    {
      tests: ['server/src/http/simulate/simulations.test.ts'],
      breaks: 'an input of the moment comes before the waits that end then',
      from: 'due <= (input?.[1].at ?? Number.POSITIVE_INFINITY)',
      to: 'due < (input?.[1].at ?? Number.POSITIVE_INFINITY)',
    },
  ],
  'server/src/engine/simulation/runs.ts': [
    {
      tests: ['server/src/http/simulate/simulations.test.ts'],
      breaks: 'a simulated repetition begins runs again',
      from: 'if (this.#transactions.has(row.transaction_id)) return',
      to: '',
    },
  ],
  'server/src/engine/core/timer-statements.ts': [
    {
      tests: ['server/src/engine/runs/timers.test.ts'],
      breaks: 'a timer that somebody held when its wait was ended stays until its time',
      from: 'WHERE (SELECT count(*) FROM dropped_timers) <',
      to: 'WHERE false AND (SELECT count(*) FROM dropped_timers) <',
    },
  ],
  'server/src/engine/runs/windows.ts': [
    {
      tests: ['server/src/engine/runs/windows.test.ts'],
      breaks: 'the youngest inherits a canceled digest',
      from: 'byAge(oldest, step) <= 0 ? oldest : step',
      to: 'byAge(oldest, step) >= 0 ? oldest : step',
    },
    {
      tests: ['server/src/engine/runs/windows.test.ts'],
      breaks: 'a digest holds more bytes than it may',
      from: 'bytes > mostEventBytes && index > 0',
      to: 'bytes > 10 * mostEventBytes && index > 0',
    },
  ],
  'server/src/engine/feedback/webhooks.ts': [
    {
      breaks: 'a webhook is not sent again',
      from: 'verdict.isDelivered || verdict.isFinal ? undefined : retryAfterMs[attempts - 1]',
      to: 'verdict.isDelivered || !verdict.isFinal ? undefined : retryAfterMs[attempts - 1]',
    },
    {
      breaks: 'the waits of webhooks are off by one',
      from: 'retryAfterMs[attempts - 1]',
      to: 'retryAfterMs[attempts]',
    },
    {
      breaks: 'an endpoint is off after 5 hours',
      from: 'const patienceMs = 5 * 24 * hours',
      to: 'const patienceMs = 5 * hours',
    },
    {
      breaks: 'a redirect counts as delivered',
      from: 'answer.status >= 200 && answer.status < 300',
      to: 'answer.status >= 200 && answer.status < 400',
    },
    {
      breaks: 'an endpoint that is off is called',
      from: "if (!endpoint.active) return refused('The endpoint is turned off')",
      to: '',
    },
  ],
}
