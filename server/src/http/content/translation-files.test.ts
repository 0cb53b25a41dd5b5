import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

/** Two translated layouts and an untranslated one, in their own organization with the target locales French and Spanish. */
async function organization() {
  const { development: api } = await server.freshOrganization()
  await (await server.organizationOf(api)).patch('/v1/organizations/settings', { targetLocales: ['fr_FR', 'es_ES'] })
  await api.post('/v2/layouts', { layoutId: 'mail', name: 'Mail', isTranslationEnabled: true })
  await api.post('/v2/layouts', { layoutId: 'bill', name: 'Bill', isTranslationEnabled: true })
  await api.post('/v2/layouts', { layoutId: 'plain', name: 'Plain' })
  const textsOf = async (layoutId: string, locale: string) =>
    (await api.get(`/v2/translations/layout/${layoutId}/${locale}`)).body.content
  return { api, textsOf }
}

type Part = [field: string, value: string | Uint8Array, fileName?: string]

async function send(api: Api, path: string, parts: Part[], headers: Record<string, string> = {}) {
  const form = new FormData()
  for (const [field, value, fileName] of parts) {
    if (fileName === undefined) form.append(field, value as string)
    else form.append(field, new Blob([value as string]), fileName)
  }
  const authorization = `ApiKey ${api.key}`
  const response = await fetch(api.url + path, { method: 'POST', headers: { authorization, ...headers }, body: form })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const mail: Part[] = [
  ['resourceId', 'mail'],
  ['resourceType', 'layout'],
]
const upload = (api: Api, ...files: Part[]) => send(api, '/v2/translations/upload', [...mail, ...files])

describe('uploading files of one resource', () => {
  test('each file holds the texts of the locale it is named after', async () => {
    const { api, textsOf } = await organization()
    const answer = await upload(
      api,
      ['files', '{"hello":"Bonjour"}', 'fr_FR.json'],
      ['files[]', '\uFEFF{"hello":"Hola"}', 'es-ES.json'],
      ['files[]', '{"hello":"Hello"}', 'en_US.json'],
    )
    expect(answer).toMatchObject({
      status: 200,
      body: { totalFiles: 3, successfulUploads: 3, failedUploads: 0, errors: [] },
    })
    expect(await textsOf('mail', 'fr_FR')).toEqual({ hello: 'Bonjour' })
    expect(await textsOf('mail', 'es_ES')).toEqual({ hello: 'Hola' })
    expect(await textsOf('mail', 'en_US')).toEqual({ hello: 'Hello' })
    expect((await api.get('/v2/translations/group/layout/mail')).body).not.toHaveProperty('outdatedLocales')
  })

  test('a file name with a path is reduced to its last part, which must be a locale', async () => {
    const { api, textsOf } = await organization()
    const boundary = 'b0undary'
    const uploadAs = async (fileName: string) => {
      const fields = mail.map(
        ([name, value]) =>
          `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
      )
      const file = `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="${fileName}"\r\n\r\n{"hello":"${fileName.length}"}\r\n`
      const response = await fetch(`${api.url}/v2/translations/upload`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${api.key}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: `${fields.join('')}${file}--${boundary}--\r\n`,
      })
      return { status: response.status, body: (await response.json()) as { successfulUploads?: number } }
    }
    const locales = async () =>
      (await server.database.db.selectFrom('translations').select('locale').distinct().orderBy('locale').execute()).map(
        ({ locale }) => locale,
      )
    const before = await locales()
    for (const name of [
      ...[
        '../../fr_FR.json',
        '..\\\\fr_FR.json',
        '/etc/fr_FR.json',
        '../../etc/passwd',
        '..',
        '../.json',
        'fr_FR/../../x.json',
      ],
      ...['fr_FR.json\0.txt', '%2e%2e%2ffr_FR.json', 'C:\\\\fr_FR.json'],
    ]) {
      const { status, body } = await uploadAs(name)
      expect([name, status]).toEqual([name, expect.toBeOneOf([200, 400, 422])])
      const isTaken = status === 200 && body.successfulUploads === 1
      // Read as the locale at its end, if there is one.
      if (isTaken) expect([name, await textsOf('mail', 'fr_FR')]).toEqual([name, { hello: String(name.length) }])
      expect([name, (await locales()).filter((locale) => !before.includes(locale) && locale !== 'fr_FR')]).toEqual([
        name,
        [],
      ])
    }
    expect(existsSync('/etc/fr_FR.json') || existsSync(path.resolve('../../fr_FR.json'))).toBe(false)
  })

  test('a file that cannot be read is counted, the others are written', async () => {
    const { api, textsOf } = await organization()
    const answer = await upload(
      api,
      ['files', '{"hello":', 'fr_FR.json'],
      ['files', '["Hola"]', 'es_ES.json'],
      ['files', '{"hello":"Hello"}', 'en_US.json'],
    )
    expect(answer).toMatchObject({
      status: 200,
      body: {
        totalFiles: 3,
        successfulUploads: 1,
        failedUploads: 2,
        errors: [expect.stringMatching(/^fr_FR\.json: it is not valid JSON: /), 'es_ES.json: it has no JSON object'],
      },
    })
    expect(await textsOf('mail', 'en_US')).toEqual({ hello: 'Hello' })
    expect(await textsOf('mail', 'fr_FR')).toBeUndefined()
  })

  test.each<[string, Part[], object]>([
    ['no files', [], { message: 'No valid translation files' }],
    ['a field instead of a file', [['files', '{}']], { errors: { general: { messages: ['files must be an array'] } } }],
    [
      'only files that cannot be read',
      [
        ['files', 'hello', 'fr_FR.json'],
        ['files', '', 'es_ES.json'],
      ],
      {
        message: 'No valid translation files',
        errors: [expect.stringMatching(/^fr_FR\.json: /), 'es_ES.json: it has no JSON object'],
      },
    ],
    [
      'names that are no locale',
      [
        ['files', '{}', 'fr_FR.json'],
        ['files', '{}', 'french.json'],
        ['files', '{}', 'es_ES.txt'],
        ['files', '{}', 'en.json'],
      ],
      {
        errors: ['french.json', 'es_ES.txt', 'en.json'].map(
          (name) => `${name}: the name is not that of a supported locale with .json behind it`,
        ),
      },
    ],
    [
      'two files for one locale',
      [
        ['files', '{}', 'fr_FR.json'],
        ['files', '{}', 'fr-FR.json'],
      ],
      { errors: ['fr-FR.json: there is another file for fr_FR'] },
    ],
    [
      'a locale the organization does not translate into',
      [
        ['files', '{}', 'fr_FR.json'],
        ['files', '{}', 'zh_CN.json'],
      ],
      {
        message: 'Add the locale to the target locales of the organization before uploading texts for it',
        errors: ['zh_CN.json: zh_CN is neither the default nor a target locale'],
      },
    ],
    [
      'more than a hundred files',
      Array.from({ length: 101 }, (): Part => ['files', '{}', 'fr_FR.json']),
      { message: 'At most 100 files can be sent at once' },
    ],
  ])('%s: nothing is written', async (_name, files, body) => {
    const { api, textsOf } = await organization()
    const answer = await upload(api, ...files)
    expect(answer).toMatchObject({ status: files[0]?.length === 2 ? 422 : 400, body })
    expect(await textsOf('mail', 'fr_FR')).toBeUndefined()
  })

  test('a file over a megabyte is refused', async () => {
    const { api, textsOf } = await organization()
    const text = JSON.stringify({ hello: 'x'.repeat(1024 * 1024) })
    expect(await upload(api, ['files', '{}', 'en_US.json'], ['files', text, 'fr_FR.json'])).toMatchObject({
      status: 413,
      body: { message: 'File "fr_FR.json" is larger than 1048576 bytes' },
    })
    expect(await textsOf('mail', 'fr_FR')).toBeUndefined()
  })

  test('the resource must be named, exist, and have translation on', async () => {
    const { api } = await organization()
    const file: Part = ['files', '{}', 'fr_FR.json']
    const to = (...fields: Part[]) => send(api, '/v2/translations/upload', [...fields, file])
    expect(await to(['resourceType', 'layout'])).toMatchObject({
      status: 422,
      body: { errors: { general: { messages: ['resourceId should not be empty'] } } },
    })
    expect((await to(['resourceId', 'mail'], ['resourceType', 'step'])).status).toBe(422)
    expect((await to(['resourceId', 'mail'], ['resourceId', 'bill'], ['resourceType', 'layout'])).status).toBe(422)
    expect((await to(['resourceId', 'nope'], ['resourceType', 'layout'])).status).toBe(404)
    expect((await to(['resourceId', 'plain'], ['resourceType', 'layout'])).status).toBe(404)
    expect((await to(['resourceId', 'a'.repeat(3_000)], ['resourceType', 'layout'])).status).toBe(400)
    expect(await to(['resourceId', 'a\0'], ['resourceType', 'layout'])).toMatchObject({
      status: 400,
      body: { code: 'invalid_text' },
    })
  })

  test('with an idempotency key the same files are written once, and other files are refused', async () => {
    const { api } = await organization()
    const headers = { 'idempotency-key': 'once' }
    const put = (text: string) =>
      send(api, '/v2/translations/upload', [...mail, ['files', text, 'fr_FR.json']], headers)
    expect((await put('{"a":"1"}')).status).toBe(200)
    const again = await put('{"a":"1"}')
    expect(again.headers.get('idempotency-replay')).toBe('true')
    expect((await put('{"a":"2"}')).status).toBe(422)
  })
})

describe('a body that is not a form', () => {
  const headers = (type: string) => ({ 'content-type': type })
  test.each<[string, string | Uint8Array, number]>([
    ['application/json', '{"resourceId":"mail","resourceType":"layout","files":[{}]}', 415],
    ['text/plain', 'hello', 415],
    ['multipart/form-data', 'hello', 400],
    ['multipart/form-data; boundary=x', 'hello', 400],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="files"; filename="fr', 400],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\n{',
      400,
    ],
    ['multipart/form-data; boundary=x', randomBytes(1_000), 400],
    ['multipart/form-data; boundary=x', '--x--\r\n', 422],
  ])('%s %j gets a clear answer', async (type, body, status) => {
    const { api } = await organization()
    for (const path of ['/v2/translations/upload', '/v2/translations/master-json/upload']) {
      const answer = await api.post(path, body, headers(type))
      const isEmptyForm = status === 422 && path.endsWith('master-json/upload')
      expect([path, answer.status]).toEqual([path, isEmptyForm ? 400 : status])
    }
  })

  test('other routes do not accept forms', async () => {
    const { api } = await organization()
    expect((await send(api, '/v2/translations', mail)).status).toBe(415)
  })
})

describe('master JSON', () => {
  const path = '/v2/translations/master-json'

  test('all texts of a locale are exported, and imported again', async () => {
    const { api, textsOf } = await organization()
    const masterJson = { layouts: { mail: { hello: 'Bonjour' }, bill: { total: 'Somme' } } }
    expect(await api.post(path, { locale: 'fr-FR', masterJson })).toMatchObject({
      status: 200,
      body: { success: true, message: 'Imported 2 resources for fr_FR', successful: ['mail', 'bill'] },
    })
    expect(await textsOf('mail', 'fr_FR')).toEqual({ hello: 'Bonjour' })
    expect((await api.get(`${path}?locale=fr_FR`)).body).toEqual({ workflows: {}, ...masterJson })
    expect((await api.get(`${path}?locale=zh-CN`)).body).toEqual({ workflows: {}, layouts: {} })
    // Without a locale it exports the default one, which has no texts.
    expect((await api.get(path)).body).toEqual({ workflows: {}, layouts: {} })
    await api.post(path, { locale: 'en_US', masterJson: { layouts: { bill: { total: 'Total' } } } })
    expect((await api.get(path)).body).toEqual({ workflows: {}, layouts: { bill: { total: 'Total' } } })
  })

  test('unknown or untranslated resources and malformed texts fail, the rest is imported', async () => {
    const { api, textsOf } = await organization()
    const { body } = await api.post(path, {
      locale: 'zh_CN',
      masterJson: {
        workflows: { nope: { hello: 'x' } },
        layouts: { mail: { hello: 'Nihao' }, bill: 'text', plain: { hello: 'x' } },
      },
    })
    expect(body).toEqual({
      success: true,
      message: 'Partial import for zh_CN: 1 resources imported, 3 failed',
      successful: ['mail'],
      failed: ['bill', 'plain', 'nope'],
    })
    expect(await textsOf('mail', 'zh_CN')).toEqual({ hello: 'Nihao' })
  })

  test('an import of nothing is not a success', async () => {
    const { api } = await organization()
    const give = async (masterJson: object) => (await api.post(path, { locale: 'fr_FR', masterJson })).body
    expect(await give({ layouts: { plain: {}, nope: {} } })).toEqual({
      success: false,
      message: expect.stringMatching(/^Nothing was imported for fr_FR/),
      failed: ['plain', 'nope'],
    })
    for (const empty of [{}, { workflows: {}, layouts: {} }])
      expect(await give(empty)).toEqual({ success: false, message: expect.stringMatching(/^Nothing to import/) })
    expect(await give({ layouts: { mail: { text: 'x'.repeat(1024 * 1024) } } })).toMatchObject({ failed: ['mail'] })
  })

  test.each([
    [{ locale: 'fr', masterJson: {} }, 'locale must be a language with its region, such as en_US'],
    [{ masterJson: {} }, 'locale should not be empty'],
    [{ locale: 'fr_FR' }, 'masterJson should not be null or undefined'],
    [{ locale: 'fr_FR', masterJson: [] }, 'masterJson must be an object'],
    [{ locale: 'fr_FR', masterJson: { layouts: [] } }, 'masterJson.layouts must be an object'],
  ])('%j is refused', async (body, message) => {
    const { api } = await organization()
    const answer = await api.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
    expect((await api.get(`${path}?locale=fr`)).status).toBe(422)
  })

  test('can be uploaded as one file, named after its locale', async () => {
    const { api, textsOf } = await organization()
    const text = JSON.stringify({ layouts: { mail: { hello: 'Ni hao' }, nope: {} } })
    const answer = await send(api, `${path}/upload`, [['file', text, 'zh_CN.json']])
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: true,
        message: expect.stringMatching(/^Partial import/),
        successful: ['mail'],
        failed: ['nope'],
      },
    })
    expect(await textsOf('mail', 'zh_CN')).toEqual({ hello: 'Ni hao' })
  })

  test.each<[string, Part[], string | RegExp]>([
    ['no file', [['other', 'x']], 'Send exactly one master JSON file, named after its locale, such as en_US.json'],
    [
      'two files',
      [
        ['file', '{"layouts":{"mail":{}}}', 'fr_FR.json'],
        ['file', '{"layouts":{"mail":{}}}', 'es_ES.json'],
      ],
      'Send exactly one master JSON file, named after its locale, such as en_US.json',
    ],
    ['another name', [['file', '{"layouts":{"mail":{}}}', 'master.json']], /^Translation files are named/],
    ['no JSON', [['file', '{', 'fr_FR.json']], /^The master JSON file cannot be imported: it is not valid JSON: /],
    ['an empty file', [['file', '', 'fr_FR.json']], /no JSON object$/],
    ['an empty object', [['file', '{}', 'fr_FR.json']], /neither workflows nor layouts$/],
    ['lists', [['file', '{"workflows":[]}', 'fr_FR.json']], /workflows and layouts must be objects$/],
  ])('%s is refused', async (_name, parts, message) => {
    const { api, textsOf } = await organization()
    expect(await send(api, `${path}/upload`, parts)).toMatchObject({
      status: 400,
      body: { message: typeof message === 'string' ? message : expect.stringMatching(message) },
    })
    expect(await textsOf('mail', 'fr_FR')).toBeUndefined()
  })
})
