// Second factors in a real browser, whose virtual authenticator makes and uses passkeys.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { addApp, codeOf, password, signInWithPassword } from '../../server/test/factors.ts'
import { type PersonApi, signInAs } from '../../server/test/people.ts'
import { axeViolations, follow, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { row } from './hands.ts'

const { server, browser } = useDashboard()

/** Passkeys need a host name. */
const home = () => `http://localhost:${new URL(server.url).port}`

async function open(path: string, person?: PersonApi, at = home()): Promise<Page> {
  const cookie = {
    ...{ name: 'belfry_session', value: person?.token ?? '', domain: 'localhost', path: '/' },
    ...{ expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const },
  }
  const page = await browser.open(at + path, {
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    cookies: person ? [cookie] : [],
  })
  page.setDefaultTimeout(30_000)
  return page
}

/** A security key with a finger, plugged in for as long as the page lives. */
async function plugIn(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

async function givePassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function keepCodes(page: Page): Promise<string[]> {
  const list = page.getByRole('list', { name: 'Recovery codes' })
  await list.waitFor()
  const codes = await list.getByRole('listitem').allTextContents()
  expect(codes).toHaveLength(10)
  await page.getByLabel('I have stored them in a safe place').click()
  await page.getByRole('button', { name: 'Done' }).click()
  return codes
}

const leave = async (page: Page) => {
  await page.getByRole('button', { name: /^Your account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
}

/** What a phone reads from the QR code is also shown as text. */
const secretOn = async (page: Page) => ((await page.locator('code').first().textContent()) ?? '').replaceAll(' ', '')

describe('the account', () => {
  test('an authenticator app is set up, asked for at sign-in, and a recovery code stands in for it', async () => {
    const owner = await signInAs(server, server.api, 'owner')
    const person = await signInWithPassword(server, server.api, 'editor')
    const page = await open('/account', person)
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await takeScreenshots(page, 'factor-app')
    expect(await axeViolations(page)).toEqual([])
    const secret = await secretOn(page)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    await page.getByLabel('Code that the app shows').fill('000000')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Code that the app shows').fill(codeOf(secret, server.clock.now()))
    await page.getByLabel('Code that the app shows').press('Enter')
    await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor()
    await takeScreenshots(page, 'factor-codes')
    expect(await axeViolations(page)).toEqual([])
    const [first = ''] = await keepCodes(page)
    await page.getByText('10 of 10 left').waitFor()
    await page.getByText('On', { exact: true }).waitFor()
    await takeScreenshots(page, 'account-security')
    expect(await axeViolations(page)).toEqual([])

    await leave(page)
    server.clock.advance({ minutes: 1 })
    await givePassword(page, person.email)
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await takeScreenshots(page, 'second-step')
    expect(await axeViolations(page)).toEqual([])
    await page.getByLabel('Code from your authenticator app').fill('123456')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'The code is wrong' }).waitFor()
    await page.getByLabel('Code from your authenticator app').fill(codeOf(secret, server.clock.now()))
    await page.getByLabel('Code from your authenticator app').press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()

    await leave(page)
    await givePassword(page, person.email)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(first)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await follow(page, '/account')
    await page.getByText('9 of 10 left').waitFor()

    // A new password by a link asks for the factor, too.
    const { body } = await owner.post(`/v1/auth/members/${person.id}/reset-link`)
    const link = new URL(body.link)
    await page.goto(home() + link.pathname + link.hash)
    await page.getByLabel('New password', { exact: true }).fill('a whole new password')
    await page.getByRole('button', { name: 'Save and sign in' }).click()
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
  })

  test('a passkey is added, renamed, signs in after the password and alone, and is removed', async () => {
    const person = await signInWithPassword(server, server.api, 'editor')
    const page = await open('/account', person)
    await plugIn(page)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name', { exact: true }).last().fill('Security key')
    await takeScreenshots(page, 'factor-passkey')
    await page.getByRole('button', { name: 'Continue' }).click()
    await keepCodes(page)
    const passkeys = page.getByRole('list', { name: 'Passkeys' })
    await passkeys.getByText('Security key').waitFor()
    await passkeys.getByText(/never used/).waitFor()
    await page.getByRole('button', { name: 'Actions for Security key' }).click()
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Green key')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await passkeys.getByText('Green key').waitFor()
    expect(await axeViolations(page)).toEqual([])
    expect(await overflowOnPhone(page)).toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })

    await leave(page)
    await givePassword(page, person.email)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()

    await leave(page)
    await page.reload()
    await takeScreenshots(page, 'sign-in-passkey')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.getByRole('button', { name: `Your account: An editor` }).waitFor()

    await follow(page, '/account')
    await passkeys.getByText(/last used/).waitFor()
    await page.getByRole('button', { name: 'Actions for Green key' }).click()
    await page.getByRole('menuitem', { name: 'Remove…' }).click()
    await page.getByText(/It is your only second factor/).waitFor()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Passkey removed').waitFor()
    await passkeys.waitFor({ state: 'detached' })
    expect((await person.get('/v1/auth/session')).status).toBe(401)
  })

  test('other browsers are listed, and signed out one by one or together', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const page = await open('/account', person)
    const other = await open('/sign-in')
    await givePassword(other, person.email)
    await other.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.reload()
    await page
      .getByRole('listitem')
      .filter({ hasText: /Chrome on Linux/ })
      .filter({ hasText: /signed in .* last used/ })
      .waitFor()
    await page.getByRole('button', { name: 'Sign out all others' }).click()
    await page.getByText('One browser signed out').waitFor()
    await other.reload()
    await other.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
  })
})

describe('asking again', () => {
  test('after a while a dialog asks for a proof, and the request is repeated; hidden keys appear', async () => {
    const { development } = await server.freshOrganization()
    const person = await signInWithPassword(server, development, 'owner')
    const { secret } = await addApp(server, person)
    const editor = await signInAs(server, development, 'editor')
    const page = await open('/team', person)
    await row(page, editor.email).waitFor()
    server.clock.advance({ minutes: 20 })
    const remove = async () => {
      await row(page, editor.email)
        .getByRole('button', { name: /^Actions for/ })
        .click()
      await page.getByRole('menuitem', { name: 'Remove…' }).click()
      await page.getByRole('button', { name: /^Remove An editor/ }).click()
      await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    }
    await remove()
    await takeScreenshots(page, 'proof')
    expect(await axeViolations(page)).toEqual([])
    // Closing it leaves everything as it was.
    await page.keyboard.press('Escape')
    await page.getByText(/prove who you are/).waitFor()
    await remove()
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'That is not right' }).waitFor()
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Password', { exact: true }).press('Enter')
    await page.getByText('An editor removed').waitFor()
    await row(page, editor.email).waitFor({ state: 'detached' })

    server.clock.advance({ minutes: 20 })
    await page.goto(`${home()}/api-keys`)
    await page.getByText('Hidden until you confirm that it is you.').waitFor()
    await takeScreenshots(page, 'keys-hidden')
    expect(await axeViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Show', exact: true }).first().click()
    await page.getByRole('tab', { name: 'Code from your app' }).or(page.getByText('Code from your app')).first().click()
    await page.getByLabel('Code from your authenticator app').fill(codeOf(secret, server.clock.now()))
    await page.getByLabel('Code from your authenticator app').press('Enter')
    await page.getByRole('list', { name: 'Keys', exact: true }).waitFor()
    expect(await page.getByText('Hidden until').count()).toBe(0)
  })
})

test('asking again works above another dialog, and for people of the identity provider it leads there', async () => {
  const person = await signInWithPassword(server, server.api, 'viewer')
  const page = await open('/account', person)
  await page.getByRole('button', { name: 'Set up an authenticator app' }).waitFor()
  server.clock.advance({ minutes: 20 })
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  const code = page.getByLabel('Code that the app shows')
  await code.fill(codeOf(await secretOn(page), server.clock.now()))
  await code.press('Enter')
  await keepCodes(page)

  const oidc = { issuer: 'https://id.example.com', clientId: 'belfry', clientSecret: 'secret' }
  const other = await server.startAnother({ oidc: { ...oidc, allowedDomain: undefined, defaultRole: undefined } })
  const guest = await signInAs(server, server.api, 'viewer')
  await server.database.db
    .updateTable('users')
    .set({ oidc_issuer: oidc.issuer, oidc_subject: guest.id })
    .where('id', '=', guest.id)
    .execute()
  const theirs = await open('/account', guest, `http://localhost:${new URL(other.url).port}`)
  await theirs.getByLabel('New password', { exact: true }).fill(password)
  server.clock.advance({ minutes: 20 })
  await theirs.getByRole('button', { name: 'Add password' }).click()
  const link = theirs.getByRole('link', { name: 'Sign in again with id.example.com' })
  await link.waitFor()
  await takeScreenshots(theirs, 'proof-oidc')
  expect(await axeViolations(theirs)).toEqual([])
  const href = new URL((await link.getAttribute('href')) ?? '', other.url)
  expect([href.pathname, href.searchParams.get('again')]).toEqual(['/v1/auth/oidc/start', 'true'])
  expect(href.searchParams.get('returnTo')).toMatch(/^\/account/)
})

describe('the team', () => {
  test('an owner requires a second factor; a member sets it up before anything else; lost ones are removed', async () => {
    const { development } = await server.freshOrganization()
    const owner = await signInWithPassword(server, development, 'owner')
    const member = await signInWithPassword(server, development, 'viewer')
    const page = await open('/team', owner)
    const rule = page.getByRole('switch', { name: 'Every member needs a second factor' })
    await rule.waitFor()
    expect(await rule.isDisabled()).toBe(true)
    await page.getByRole('link', { name: 'set up your own' }).waitFor()
    await addApp(server, owner)
    await page.reload()
    await rule.click()
    await page.getByText('Every member needs a second factor now').waitFor()
    await takeScreenshots(page, 'team-second-factor')
    expect(await axeViolations(page)).toEqual([])

    const theirs = await open('/topics', member)
    await plugIn(theirs)
    await theirs.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await takeScreenshots(theirs, 'factor-required')
    expect(await axeViolations(theirs)).toEqual([])
    // Other pages lead back here.
    await theirs.goto(`${home()}/account`)
    await theirs.getByRole('heading', { name: 'Set up a second factor' }).waitFor()
    await theirs.getByRole('button', { name: 'Use an authenticator app' }).click()
    await theirs.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    await takeScreenshots(theirs, 'factor-required-app')
    await theirs.getByRole('button', { name: 'Choose another way' }).click()
    await theirs.getByRole('button', { name: 'Use a passkey' }).click()
    await theirs.getByRole('button', { name: 'Continue' }).click()
    await keepCodes(theirs)
    await theirs.waitForURL(/\/account/)
    await theirs.getByRole('heading', { name: 'Your account' }).waitFor()

    await page.reload()
    await row(page, member.email).getByText('On', { exact: true }).waitFor()
    await row(page, member.email)
      .getByRole('button', { name: /^Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Remove second factor…' }).click()
    await page.getByRole('button', { name: 'Remove the second factor' }).click()
    await row(page, member.email).getByText('Off', { exact: true }).waitFor()
    await theirs.reload()
    await theirs.getByRole('heading', { name: 'Sign in to Belfry' }).waitFor()
  })
})
