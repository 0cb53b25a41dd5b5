import { describe, expect, test } from 'vitest'
import { signInAs } from '../../server/test/people.ts'
import { useVendor } from '../../server/test/vendor.ts'
import { axeViolations, follow, takeScreenshots, useDashboard } from './dashboard.ts'

const { server, browser, open } = useDashboard({ allowPrivateAddresses: true })
const vendor = useVendor()
const password = 'correct horse battery'

describe('setting up', () => {
  test('without an owner, the sign-in page explains where to find the link', async () => {
    const { page } = await open({ role: 'none', path: '/sign-in' })
    await page.getByRole('heading', { name: 'Belfry has no owner yet' }).waitFor()
    expect(await page.getByText('npm run sign-in-link').count()).toBe(1)
  })

  test('the link creates the owner, shows errors at their fields, and opens the guided start', async () => {
    const { page } = await open({ role: 'none', path: `/setup#${server.setUpToken}` })
    await page.getByLabel('Your name').fill('Ada Lovelace')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill('short')
    await page.getByRole('button', { name: 'Create the owner account' }).click()
    const field = page.getByLabel('Password', { exact: true })
    await page.getByText('Password must have at least 10 characters.').waitFor()
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await takeScreenshots(page, 'setup')
    await field.fill(password)
    await page.getByLabel('Organization').fill('Acme')
    await page.getByRole('button', { name: 'Create the owner account' }).click()
    await page.waitForURL(/\/start/)
    await page.getByText('Acme', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Your account' }).textContent()).toContain('Ada Lovelace')
  })

  test('a link works only once, and says so afterwards', async () => {
    const { page } = await open({ role: 'none', path: `/setup#${server.setUpToken}` })
    await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    await takeScreenshots(page, 'dead-link')
    await page.getByRole('link', { name: 'Go to sign in' }).click()
    await page.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
  })
})

describe('signing in', () => {
  test('returns to the requested page, but never to another site; sign out ends the session', async () => {
    const { page } = await open({ role: 'none', path: '/account?from=mail' })
    await page.waitForURL(/\/sign-in\?returnTo=/)
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('something else')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await takeScreenshots(page, 'sign-in-refused')
    await page.getByLabel('Password').fill(password)
    await page.getByLabel('Password').press('Enter')
    await page.waitForURL(/\/account\?.*from=mail/)
    await page.getByRole('heading', { name: 'Your account' }).waitFor()

    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
    await page.goto(`${server.url}/account`)
    await page.waitForURL(/\/sign-in/)

    // Never to another site.
    await follow(page, '/sign-in?returnTo=https://evil.example/')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    expect(new URL(page.url()).origin).toBe(server.url)
  })

  test('a session that ends while a page is open leads to the sign-in page', async () => {
    const { page, person } = await open({ role: 'editor', path: '/account' })
    await page.getByRole('heading', { name: 'Signed-in browsers' }).waitFor()
    await person.post('/v1/auth/sign-out-everywhere')
    await page.getByLabel('Name', { exact: true }).fill('Somebody')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/\/sign-in\?returnTo=/)
  })
})

describe('with an identity provider', () => {
  const oidc = { issuer: 'https://id.example.com', clientId: 'belfry', clientSecret: 'secret' }

  test('its button keeps the requested page, and its errors are explained', async () => {
    const other = await server.startAnother({
      oidc: { ...oidc, allowedDomain: undefined, defaultRole: undefined },
    })
    const page = await browser.open(`${other.url}/sign-in?returnTo=${encodeURIComponent('/topics?env=production')}`)
    const button = page.getByRole('link', { name: 'Continue with id.example.com' })
    await button.waitFor()
    await takeScreenshots(page, 'sign-in-oidc')
    const target = new URL((await button.getAttribute('href')) ?? '', other.url)
    expect(target.pathname).toBe('/v1/auth/oidc/start')
    expect(target.searchParams.get('returnTo')).toBe('/topics?env=production')

    for (const [code, sentence] of [
      ['oidc_no_account', /This address has no invitation/],
      ['oidc_unavailable', /cannot be reached/],
      ['something_new', /Please try again/],
    ] as const) {
      await follow(page, `/sign-in?error=${code}`)
      await page.getByRole('alert').filter({ hasText: sentence }).waitFor()
    }
  })
})

describe('invitations and new passwords', () => {
  test('an invitation shows the organization and role, and signs in; a reset link sets a new password', async () => {
    const owner = await signInAs(server, server.api, 'owner')
    const { body } = await owner.post('/v1/auth/invitations', { email: 'grace@example.com', role: 'editor' })
    const { page } = await open({ role: 'none', path: new URL(body.link).pathname + new URL(body.link).hash })
    await page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    await page.getByText('You are invited as an editor.').waitFor()
    await takeScreenshots(page, 'invitation')
    await page.getByLabel('Your name').fill('Grace Hopper')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('button', { name: 'Your account' }).waitFor()
    expect(await page.getByRole('button', { name: 'Your account' }).textContent()).toMatch(/Grace Hopper\s*Editor/i)

    const { body: members } = await owner.get('/v1/auth/members')
    const grace = members.find((member: any) => member.email === 'grace@example.com')
    const { body: reset } = await owner.post(`/v1/auth/members/${grace._id}/reset-link`)
    const { pathname, hash } = new URL(reset.link)
    await page.goto(server.url + pathname + hash)
    await page.getByText('For grace@example.com.').waitFor()
    await page.getByLabel('New password', { exact: true }).fill('a whole new password')
    await page.getByRole('button', { name: 'Save and sign in' }).click()
    await page.getByRole('button', { name: 'Your account' }).waitFor()
  })
})

describe('a forgotten password', () => {
  test('without an email integration the page says who can make a link', async () => {
    const { page } = await open({ role: 'none', path: '/sign-in' })
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByText('cannot email you a link').waitFor()
    await page.getByText('An admin of your organization can make a link for you').waitFor()
    await takeScreenshots(page, 'forgot-password-no-mail')
    expect(await axeViolations(page)).toEqual([])
  })

  test('a link comes by email and leads to a new password', async () => {
    vendor.plays(() => ({ body: { id: 'm1' } }))
    const sender = { from: 'team@acme.example', senderName: 'Acme', domain: 'acme.example' }
    const credentials = { apiKey: 'secret', user: 'api', baseUrl: vendor.url, ...sender }
    const body = { providerId: 'mailgun', channel: 'email', name: 'Mailgun', active: true, credentials }
    expect(await server.api.post('/v1/integrations', body)).toMatchObject({ status: 201 })

    const { page } = await open({ role: 'none', path: '/sign-in' })
    await page.getByLabel('Email').fill('grace@example.com')
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe('grace@example.com')
    await takeScreenshots(page, 'forgot-password')
    await page.getByRole('button', { name: 'Email me a link' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    await expect.poll(() => vendor.asked.length).toBe(1)
    const token = /reset#([\w-]{43})/.exec(vendor.asked[0]?.body ?? '')?.[1]
    await page.goto(`${server.url}/reset#${token}`)
    await page.getByLabel('New password', { exact: true }).fill('jacquard loom cards')
    await page.getByRole('button', { name: 'Save and sign in' }).click()
    await page.getByRole('button', { name: 'Your account: Grace Hopper' }).waitFor()
  })
})

describe('the account', () => {
  test('name and password can be changed, and all browsers signed out', async () => {
    const { page, person } = await open({ role: 'none', path: '/sign-in?returnTo=/account' })
    expect(person.email).toBeTruthy()
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Ada King')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name saved').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Your account' }).textContent()).toContain('Ada King')

    await page.getByText('this browser', { exact: true }).waitFor()
    await takeScreenshots(page, 'account')
    await page.getByLabel('Current password').fill('wrong')
    await page.getByLabel('New password', { exact: true }).fill('another fine password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Current password').fill(password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed').waitFor()
    expect(await page.getByLabel('Current password').inputValue()).toBe('')

    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
  })
})
