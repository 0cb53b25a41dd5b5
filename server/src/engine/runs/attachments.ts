// The files of a trigger.

type Members = Record<string, unknown>

export interface Attachment {
  position: number
  name: string
  mime: string
  content: Buffer
}

/** Takes the files out of the payload, which keeps only their descriptions. */
export function splitAttachments(payload: Members): { attachments: Attachment[]; rest: Members } {
  if (!Array.isArray(payload.attachments)) return { attachments: [], rest: payload }
  const attachments: Attachment[] = []
  const described = payload.attachments.map((given: unknown) => {
    if (typeof given !== 'object' || given === null) return given
    const { file, ...about } = given as Members & { file?: unknown; name?: unknown; mime?: unknown }
    const content = bytesOf(file)
    if (!content) return given
    const position = attachments.length
    const name = typeof about.name === 'string' ? about.name : `attachment-${position + 1}`
    attachments.push({
      position,
      name,
      mime: typeof about.mime === 'string' ? about.mime : 'application/octet-stream',
      content,
    })
    return { ...about, position, size: content.length }
  })
  return { attachments, rest: { ...payload, attachments: described } }
}

/** Base64, or bytes as JSON writes them. */
function bytesOf(file: unknown): Buffer | undefined {
  if (typeof file === 'string') return Buffer.from(file, 'base64')
  const bytes = Array.isArray(file) ? file : (file as { data?: unknown } | null)?.data
  return Array.isArray(bytes) ? Buffer.from(bytes as number[]) : undefined
}
