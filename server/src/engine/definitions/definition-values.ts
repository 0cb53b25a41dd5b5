// Control values in a definition.

export const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0

/** A body in the block editor is JSON as text; however it is spaced, it is the same document. */
export function withBlockText<T extends Record<string, unknown>>(values: T): T {
  return values.editorType === 'block' && typeof values.body === 'string'
    ? { ...values, body: blockText(values.body) }
    : values
}

/** Without spaces; text that is not JSON stays unchanged. */
function blockText(body: string): string {
  if (!body.trimStart().startsWith('{')) return body
  try {
    return JSON.stringify(JSON.parse(body))
  } catch {
    return body
  }
}
