// What the API tells of a scenario that was lived through, in the form of a simulation's answer.

/** @typedef {Record<string, any>} Members */

/** How often each occurs. @returns {Record<string, number>} */
export function countOf(/** @type {string[]} */ words) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}

const ended = new Set(['completed', 'failed', 'canceled', 'merged', 'skipped'])

/** What a step has only where there is something to tell. */
const rarely = ['kind', 'path', 'of', 'asked', 'level', 'outcome', 'heldUntil']

/** @returns {Members} */
export function shownRun(
  /** @type {Members} */ run,
  /** @type {Members[]} */ messages,
  /** @type {{ hasDetails: boolean }} */ { hasDetails },
) {
  return {
    id: run._id,
    transactionId: run.transactionId,
    subscriberId: run.subscriber?.subscriberId ?? run.to?.subscriberId,
    workflowId: run.template?.triggers[0].identifier,
    status: run.status,
    deliveryLifecycle: run.deliveryLifecycle,
    mergedInto: run._digestedNotificationId ?? null,
    createdAt: run.createdAt,
    steps: run.jobs.map((/** @type {Members} */ job) => {
      const isBegun = job.executionDetails.length > 0 && job.executionDetails[0].detail === 'Step queued'
      return {
        stepId: job.step.stepId,
        type: job.type,
        ...Object.fromEntries(rarely.flatMap((name) => (job[name] === undefined ? [] : [[name, job[name]]]))),
        status: job.status,
        reason: job.reason ?? null,
        error: job.error ?? null,
        beganAt: isBegun ? job.executionDetails[0].createdAt : null,
        endedAt: ended.has(job.status)
          ? job.type === 'in_app' && isBegun
            ? job.executionDetails[0].createdAt
            : job.updatedAt
          : null,
        window: windowIn(job),
        messageIds: messages.filter(({ jobId }) => jobId === job._id).map(({ id }) => id),
        ...(hasDetails
          ? { details: job.executionDetails.map((/** @type {Members} */ { _id: _, ...line }) => line) }
          : {}),
      }
    }),
  }
}

export function shownMessage(
  /** @type {Members} */ run,
  /** @type {Members} */ job,
  /** @type {Members} */ message,
  /** @type {{ kept: Members | undefined, stored: Members | undefined }} as the sandbox, and as the inbox has it */ {
    kept,
    stored,
  },
  /** @type {Members[]} */ integrations,
) {
  const isInApp = message.channel === 'in_app'
  const isEmail = message.channel === 'email'
  return {
    jobId: job._id,
    runId: run._id,
    transactionId: run.transactionId,
    subscriberId: job.asked ?? run.subscriber?.subscriberId ?? run.to?.subscriberId,
    stepId: job.step.stepId,
    channel: message.channel,
    at: isInApp ? message.createdAt : (kept?.createdAt ?? message.updatedAt),
    status: message.status,
    integrationIdentifier: integrations.find(({ _id }) => _id === message.integrationId)?.identifier ?? null,
    providerId: message.providerId ?? null,
    to:
      kept?.to ??
      (isInApp
        ? [job.asked ?? run.subscriber?.subscriberId ?? run.to?.subscriberId]
        : message.recipient
          ? [message.recipient]
          : []),
    subject: kept ? kept.subject : (message.subject ?? null),
    text: kept ? kept.text : isEmail ? null : (message.content ?? null),
    html: kept ? kept.html : isEmail ? (message.content ?? null) : null,
    ...(isInApp
      ? {
          inApp: {
            ...{ avatar: message.avatar ?? null, cta: message.cta ?? null, data: message.data ?? null },
            ...{ seen: stored?.seen, read: stored?.read, severity: stored?.severity, tags: stored?.tags },
          },
        }
      : { message: kept?.message ?? {} }),
    ...(message.errorText ? { error: message.errorText } : {}),
  }
}

/** The words that a digest's log has for its window. */
const [opened, joined] = ['Step digested', 'Digest was merged with other digest']

/**
 * What a digest's log tells of its window: whether it opened one, or which run's it joined.
 * @returns {{ key: string | null, isOpener: boolean, joinedRun: string | null, at: string } | null}
 */
function windowIn(/** @type {Members} */ { type, digest, executionDetails }) {
  if (type !== 'digest') return null
  const first = executionDetails.find((/** @type {Members} */ { detail }) => detail === opened || detail === joined)
  if (!first) return null
  const { digestedInto } = first.detail === joined ? JSON.parse(first.raw) : { digestedInto: null }
  const key = digest?.digestValue ?? ''
  return {
    ...{ key: key === '' || key === 'No-Value-Provided' ? null : key, at: first.createdAt },
    ...{ isOpener: digestedInto === null, joinedRun: digestedInto },
  }
}

/**
 * The windows of digests. One that another run inherits stays one, and who was canceled is in none.
 * @returns {Members[]}
 */
export function windowsOf(/** @type {Members[]} */ runs) {
  const byRun = new Map(runs.map((run) => [run.id, run]))
  const partOf = (/** @type {Members} */ run) => run.steps.find((/** @type {Members} */ step) => step.window !== null)
  /** Who opened the window that this run came into. @returns {Members} */
  const openerOf = (/** @type {Members} */ run) => {
    const into = byRun.get(partOf(run).window.joinedRun)
    return into ? openerOf(into) : run
  }
  const all = runs.filter(partOf)
  return all
    .filter((run) => partOf(run).window.isOpener)
    .map((opener) => {
      const own = all
        .filter((run) => openerOf(run) === opener)
        .sort((a, b) => Date.parse(partOf(a).window.at) - Date.parse(partOf(b).window.at) || (a.id < b.id ? -1 : 1))
      const left = own.filter((run) => partOf(run).status !== 'canceled')
      // Whoever collects, or did at last; without anybody, the window closed with the last one who was canceled.
      const last = left.find((run) => partOf(run).status !== 'merged')
      const { stepId, window } = partOf(opener)
      const canceledAt =
        own
          .flatMap((run) => partOf(run).endedAt ?? [])
          .sort((one, other) => Date.parse(one) - Date.parse(other))
          .at(-1) ?? null
      const endedAt = last ? partOf(last).endedAt : canceledAt
      const { subscriberId, workflowId } = opener
      return {
        ...{ kind: 'digest', workflowId, stepId, subscriberId, key: window.key },
        ...{ openedAt: window.at, closedAt: endedAt },
        closedBy: endedAt === null ? null : last ? 'time' : 'cancel',
        ...{ runIds: left.map(({ id }) => id), heldBack: [], eventCount: left.length },
      }
    })
}
