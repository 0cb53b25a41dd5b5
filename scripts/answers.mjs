// What the service says of a refusal, in one sentence.

/**
 * Some refusals have their reasons beside the message only, in `errors`.
 * @returns {string}
 */
export function refusalIn(/** @type {unknown} */ body) {
  const { message: said, errors } = /** @type {{ message?: unknown, errors?: unknown }} */ (body ?? {})
  const message = Array.isArray(said) ? said.join('; ') : String(said ?? '')
  // Triggers say so for clients that compare it.
  if (message === 'workflow_not_found') return 'There is no such workflow in this environment'
  const reasons = Object.entries(typeof errors === 'object' && errors !== null ? errors : {})
    .flatMap(([field, problem]) =>
      [problem?.messages ?? []]
        .flat()
        .map((text) => (field === 'general' ? String(text) : `${field}: ${String(text)}`)),
    )
    .filter((reason) => !message.includes(reason))
  return [...(message === '' ? [] : [message]), ...(reasons.length === 0 ? [] : [reasons.join('; ')])].join(': ')
}
