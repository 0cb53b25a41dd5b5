import { describe, expect, test } from 'vitest'
import { takePictures, useDashboard } from './dashboard.ts'

const { server, browser, open } = useDashboard()
const password = 'correct horse battery'

describe('setting up', () => {
  test('without an owner, signing in explains where the link is', async () => {
    const { page } = await open({ role: 'none', path: '/sign-in' })
    await page.getByRole('heading', { name: 'Belfry has no owner yet' }).waitFor()
    expect(await page.getByText('npm run sign-in-link').count()).toBe(1)
  })

  test('the link makes the owner, says what is wrong at its field, and leads to the guided start', async () => {
    const { page } = await open({ role: 'none', path: `/setup#${server.setUpToken}` })
    await page.getByLabel('Your name').fill('Ada Lovelace')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password', { exact: true }).fill('short')
    await page.getByRole('button', { name: 'Create the owner account' }).click()
    const field = page.getByLabel('Password', { exact: true })
    await page.getByText('Password must have at least 10 characters.').waitFor()
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await takePictures(page, 'setup')
    await field.fill(password)
    await page.getByLabel('Organization').fill('Acme')
    await page.getByRole('button', { name: 'Create the owner account' }).click()
    await page.waitForURL(/\/start/)
    await page.getByText('Acme', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Your account' }).textContent()).toContain('Ada Lovelace')
  })

  test('a link works once, and says so afterwards', async () => {
    const { page } = await open({ role: 'none', path: `/setup#${server.setUpToken}` })
    await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    await takePictures(page, 'dead-link')
    await page.getByRole('link', { name: 'Go to sign in' }).click()
    await page.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
  })
})

describe('signing in', () => {
  test('leads back to where somebody wanted to go, and out again', async () => {
    const { page } = await open({ role: 'none', path: '/account?from=mail' })
    await page.waitForURL(/\/sign-in\?returnTo=/)
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('something else')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await takePictures(page, 'sign-in-refused')
    await page.getByLabel('Password').fill(password)
    await page.getByLabel('Password').press('Enter')
    await page.waitForURL(/\/account\?.*from=mail/)
    await page.getByRole('heading', { name: 'Your account' }).waitFor()

    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
    await page.goto(`${server.url}/account`)
    await page.waitForURL(/\/sign-in/)
  })

  test('never leads to another site', async () => {
    const { page } = await open({ role: 'none', path: '/sign-in?returnTo=https://evil.example/' })
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    expect(new URL(page.url()).origin).toBe(server.url)
  })

  test('a session that ends while a page is open leads to signing in', async () => {
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

  test('its button comes first, and leads there and back to where somebody wanted to go', async () => {
    const other = await server.startAnother({
      oidc: { ...oidc, allowedDomain: undefined, defaultRole: undefined },
    })
    const page = await browser.open(`${other.url}/sign-in?returnTo=${encodeURIComponent('/topics?env=production')}`)
    const button = page.getByRole('link', { name: 'Continue with id.example.com' })
    await button.waitFor()
    await takePictures(page, 'sign-in-oidc')
    const target = new URL((await button.getAttribute('href')) ?? '', other.url)
    expect(target.pathname).toBe('/v1/auth/oidc/start')
    expect(target.searchParams.get('returnTo')).toBe('/topics?env=production')
  })

  test.each([
    ['oidc_no_account', /Nobody has invited this address/],
    ['oidc_unavailable', /cannot be reached/],
    ['something_new', /Please try again/],
  ])('what went wrong there (%s) is said in words', async (code, sentence) => {
    const { page } = await open({ role: 'none', path: `/sign-in?error=${code}` })
    await page.getByRole('alert').filter({ hasText: sentence }).waitFor()
  })
})

describe('invitations and new passwords', () => {
  test('who is invited sees where and as what, and is in', async () => {
    const { person: owner } = await open({ role: 'owner' })
    const { body } = await owner.post('/v1/auth/invitations', { email: 'grace@example.com', role: 'editor' })
    const { page } = await open({ role: 'none', path: new URL(body.link).pathname + new URL(body.link).hash })
    await page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    await page.getByText('You are invited as an editor.').waitFor()
    await takePictures(page, 'invitation')
    await page.getByLabel('Your name').fill('Grace Hopper')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('button', { name: 'Your account' }).waitFor()
    expect(await page.getByRole('button', { name: 'Your account' }).textContent()).toMatch(/Grace Hopper\s*Editor/i)
  })

  test('a link for a new password lets its bearer choose one', async () => {
    const { person: owner } = await open({ role: 'owner' })
    const { body: members } = await owner.get('/v1/auth/members')
    const grace = members.find((member: any) => member.email === 'grace@example.com')
    const { body } = await owner.post(`/v1/auth/members/${grace._id}/reset-link`)
    const { page } = await open({ role: 'none', path: new URL(body.link).pathname + new URL(body.link).hash })
    await page.getByText('For grace@example.com.').waitFor()
    await page.getByLabel('New password', { exact: true }).fill('a whole new password')
    await page.getByRole('button', { name: 'Save and sign in' }).click()
    await page.getByRole('button', { name: 'Your account' }).waitFor()
  })
})

describe('the account', () => {
  test('name, password and browsers can be changed', async () => {
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
    await takePictures(page, 'account')
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
