// multipart/form-data bodies: fields as text, files in memory.
import { createHash } from 'node:crypto'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import { refuseUnstorableField } from '../edge/body.ts'
import type { App } from '../edge/resource.ts'

export class UploadedFile {
  readonly name: string
  readonly bytes: Buffer

  constructor(name: string, bytes: Buffer) {
    this.name = name
    this.bytes = bytes
  }

  /** Idempotency compares bodies by this. */
  toJSON() {
    return [this.name, createHash('sha256').update(this.bytes).digest('hex')]
  }
}

export interface UploadLimits {
  /** Bytes of the whole body. */
  body: number
  files: number
  fileBytes: number
}

/** Our forms have at most two fields. */
const mostFields = 20
const longestField = 2_000

/**
 * Makes the routes of this scope accept forms only. The body is parsed first, so that schemas and idempotency see a form like
 * JSON: text under each field's name, lists of files under theirs (`files[]` is `files`).
 */
export function takeForms(scope: App, limits: UploadLimits): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', async ({ headers }: FastifyRequest) => {
    throw fail('form_expected', { contentType: headers['content-type'] ?? '' })
  })
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: limits.body },
    async ({ headers }: FastifyRequest, bytes: Buffer) => readForm(bytes, headers as BusboyHeaders, limits),
  )
}

type Form = Record<string, string | string[] | UploadedFile[]>

async function readForm(bytes: Buffer, headers: BusboyHeaders, limits: UploadLimits): Promise<Form> {
  const form: Form = Object.create(null)
  const add = <T extends string | UploadedFile>(field: string | undefined, value: T) => {
    const name = (field ?? '').replace(/\[\]$/, '')
    form[name] = [...((form[name] ?? []) as T[]), value] as string[] | UploadedFile[]
  }
  await new Promise<void>((resolve, reject) => {
    const refuseForm = (cause: unknown) => reject(fail('malformed_form', { reason: reasonOf(cause) }, { cause }))
    const tooMany = () => reject(fail('too_many_files', { limit: limits.files }))
    try {
      const parser = new Busboy({
        headers,
        limits: {
          files: limits.files,
          fileSize: limits.fileBytes,
          fields: mostFields,
          fieldSize: longestField,
          parts: limits.files + mostFields,
          headerPairs: 20,
          headerSize: 4_096,
        },
      })
      parser.on('field', (name, value, _nameCut, isCut) =>
        isCut ? refuseForm(new Error(`the field "${name}" is too long`)) : add(name, value),
      )
      parser.on('file', (field, stream, name) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('limit', () => reject(fail('file_too_large', { name, bytes: limits.fileBytes })))
        stream.on('error', refuseForm)
        stream.on('end', () => add(field, new UploadedFile(name, Buffer.concat(chunks))))
      })
      parser.on('filesLimit', tooMany)
      parser.on('partsLimit', tooMany)
      parser.on('fieldsLimit', () => refuseForm(new Error('it has too many fields')))
      parser.on('error', refuseForm)
      parser.on('finish', resolve)
      parser.end(bytes)
    } catch (error) {
      refuseForm(error)
    }
  })
  for (const [name, values] of Object.entries(form)) {
    const [only, ...more] = values
    for (const value of values) if (typeof value === 'string') refuseUnstorableField(value)
    if (typeof only === 'string' && more.length === 0) form[name] = only
  }
  return form
}

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : 'it cannot be read')
