import { describe, expect, test } from 'vitest'
import { useHttp, useVendor } from '../../../test/vendor.ts'
import { exchangeSlackCode, slackInstallUrl, slackUserUrl } from './slack-oauth.ts'

const http = useHttp()
const slack = useVendor()
/** A server per test, because a request may arrive after the caller has given up. */
const silent = useVendor()
const sent = { code: 'one-time-code', clientId: '11.22', clientSecret: 'shh', redirectUri: 'https://belfry.example/cb' }
const exchange = () => exchangeSlackCode(http, slack.url, sent)
const exchangeInSilence = () => {
  silent.plays(() => undefined)
  return exchangeSlackCode(http, silent.url, { ...sent, timeoutMs: 20 })
}

describe('the URL', () => {
  const asked = { clientId: '11.22', redirectUri: 'https://belfry.example/cb', state: 'signed' }
  const parts = (url: string) => {
    const { origin, pathname, searchParams } = new URL(url)
    return { at: origin + pathname, ...Object.fromEntries(searchParams) }
  }

  test('to install the bot', () => {
    expect(parts(slackInstallUrl('https://slack.com', asked))).toEqual({
      at: 'https://slack.com/oauth/v2/authorize',
      state: 'signed',
      client_id: '11.22',
      redirect_uri: 'https://belfry.example/cb',
      scope: 'chat:write,chat:write.public,channels:read,groups:read,users:read,users:read.email',
    })
    expect(parts(slackInstallUrl('https://slack.com', asked, ['a', 'b']))).toMatchObject({ scope: 'a,b' })
  })

  test('for a person to sign in', () => {
    expect(parts(slackUserUrl('https://slack.com', asked))).toEqual({
      at: 'https://slack.com/oauth/v2/authorize',
      state: 'signed',
      client_id: '11.22',
      redirect_uri: 'https://belfry.example/cb',
      user_scope: 'identity.basic',
    })
    expect(parts(slackUserUrl('https://slack.com', asked, ['identity.email']))).toMatchObject({
      user_scope: 'identity.email',
    })
  })
})

describe('the exchange', () => {
  test('sends the code as a form and returns what Slack grants', async () => {
    slack.plays(() => ({
      body: {
        ok: true,
        access_token: 'xoxb-1',
        token_type: 'bot',
        scope: 'chat:write',
        bot_user_id: 'U0KRQLJ9H',
        app_id: 'A0KRD7HC3',
        team: { name: 'Acme', id: 'T1' },
        enterprise: { name: 'Acme Group', id: 'E1' },
        authed_user: { id: 'U1' },
      },
    }))
    expect(await exchange()).toEqual({
      accessToken: 'xoxb-1',
      workspace: { id: 'T1', name: 'Acme' },
      userId: 'U1',
      webhookUrl: undefined,
    })
    expect(slack.asked).toMatchObject([
      {
        method: 'POST',
        path: '/api/oauth.v2.access',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        form: {
          code: 'one-time-code',
          client_id: '11.22',
          client_secret: 'shh',
          redirect_uri: 'https://belfry.example/cb',
        },
      },
    ])
  })

  test('a grant for one channel carries its webhook; one for a person has no bot token', async () => {
    slack.plays(() => ({
      body: { ok: true, access_token: 'x', team: { id: 'T1' }, incoming_webhook: { url: 'https://hooks.slack.com/1' } },
    }))
    expect(await exchange()).toMatchObject({ webhookUrl: 'https://hooks.slack.com/1', workspace: { id: 'T1' } })
    slack.plays(() => ({ body: { ok: true, team: { id: 'T1' }, authed_user: { id: 'U1', access_token: 'xoxp' } } }))
    expect(await exchange()).toMatchObject({ userId: 'U1', accessToken: undefined })
  })

  test('an app installed for a whole organization names the organization', async () => {
    slack.plays(() => ({
      body: {
        ok: true,
        access_token: 'x',
        team: null,
        enterprise: { id: 'E1', name: 'Group' },
        is_enterprise_install: true,
      },
    }))
    expect(await exchange()).toMatchObject({ workspace: { id: 'E1', name: 'Group' } })
  })

  test.each([
    ['a refusal', { body: { ok: false, error: 'invalid_code' } }, 400, 'Slack OAuth error: invalid_code'],
    [
      'too many calls',
      { status: 429, body: { ok: false, error: 'ratelimited' } },
      400,
      'Slack OAuth error: ratelimited',
    ],
    ['a refusal without reason', { body: { ok: false } }, 400, 'Slack OAuth error: unknown_error'],
    [
      'a fault of Slack',
      { status: 500, body: { ok: false, error: 'x' } },
      502,
      'Slack gave no usable answer (HTTP 500)',
    ],
    ['no JSON', { body: '<html>' }, 502, 'Slack gave no usable answer (HTTP 200, not JSON)'],
    ['JSON of no use', { body: [] }, 502, 'Slack gave no usable answer (HTTP 200)'],
    ['nothing', { body: '' }, 502, 'Slack gave no usable answer (HTTP 200)'],
    ['far too much', { body: 'x'.repeat(2_000_000) }, 502, 'Slack gave no usable answer (the answer is too long)'],
    [
      'secrets sent back',
      { body: { ok: false, error: 'bad shh one-time-code' } },
      400,
      'Slack OAuth error: bad *** ***',
    ],
  ])('%s', async (_name, reply, status, message) => {
    slack.plays(() => reply)
    await expect(exchange()).rejects.toMatchObject({ status, message: expect.stringContaining(message) })
    expect(slack.asked).toHaveLength(1)
  })

  test('no answer ends in a timeout, a lost connection in an error that says so', async () => {
    await expect(exchangeInSilence()).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('(timeout)'),
    })
    slack.plays(() => 'hang up')
    await expect(exchange()).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('(UND_ERR_SOCKET)'),
    })
    await expect(exchangeSlackCode(http, 'http://127.0.0.1:1', sent)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('(ECONNREFUSED)'),
    })
  })

  test('no error contains the secret or the code', async () => {
    const attempts = (['hang up', { status: 500, body: 'shh one-time-code' }] as const).map((reply) => () => {
      slack.plays(() => reply)
      return exchange()
    })
    for (const attempt of [exchangeInSilence, ...attempts]) {
      const error = await attempt().catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(Error)
      expect(`${(error as Error).stack} ${String((error as Error).cause)}`).not.toMatch(/shh|one-time-code/)
    }
  })
})
