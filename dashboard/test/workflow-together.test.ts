import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { signInAs } from '../../server/test/people.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, onDesktop, overflowOnPhone, takeScreenshots, useDashboard } from './dashboard.ts'
import { addStep, saveChanges, saved } from './hands.ts'

const { server, open } = useDashboard()

async function news(api: Api) {
  const { status } = await api.post('/v2/workflows', {
    ...{ name: 'News', workflowId: 'news', active: true },
    steps: [
      {
        ...{ name: 'Email', stepId: 'email', type: 'email' },
        controlValues: { editorType: 'html', subject: 'News', body: '<p>Hello</p>' },
      },
    ],
  })
  expect(status).toBe(201)
}

/** Somebody with this name who has the workflow open. */
async function visitor(api: Api, name: string, path = '/workflows/news?step=email') {
  const { page, person } = await open({ api, path, role: 'editor' })
  await server.database.db.updateTable('users').set({ name }).where('id', '=', person.id).execute()
  await page.getByRole('textbox', { name: 'Subject' }).waitFor()
  return page
}

/** From here on the page hears of newer versions only when it saves. */
const hearNothing = (page: Page) => page.route('**/presence', (route) => route.abort())
const subjectOf = (page: Page) => page.getByRole('textbox', { name: 'Subject' })
const bodyOf = (page: Page) => page.getByRole('textbox', { name: 'Body' })
const storedIn = async (api: Api) => (await api.get('/v2/workflows/news')).body
const emailIn = async (api: Api) => (await storedIn(api)).steps[0].controlValues

describe('two people in one workflow', () => {
  test('the body by one and the subject by the other are both kept, and both see both', async () => {
    const { development: api } = await server.freshOrganization()
    await news(api)
    const ada = await visitor(api, 'Ada Lovelace')
    const grace = await visitor(api, 'Grace Hopper')
    await hearNothing(grace)
    await bodyOf(ada).fill('<p>Body by Ada</p>')
    await expect.poll(async () => (await emailIn(api)).body).toBe('<p>Body by Ada</p>')
    await saved(ada)

    await subjectOf(grace).fill('Subject by Grace')
    await grace.getByText('Ada Lovelace changed the body of Email; both kept.').waitFor()
    await takeScreenshots(grace, 'together-merged')
    await saved(grace)
    await bodyOf(grace).getByText('Body by Ada').waitFor()
    await expect
      .poll(() => emailIn(api))
      .toEqual({ editorType: 'html', subject: 'Subject by Grace', body: '<p>Body by Ada</p>' })

    // Ada has done nothing since, and does not read "Saved" over an old subject.
    await subjectOf(ada).getByText('Subject by Grace').waitFor()
    await ada.getByText('Grace Hopper changed the subject of Email.').waitFor()
    await saved(ada)
    expect((await storedIn(api)).version).toBe(3)
  })

  test('what both changed is shown side by side, and is neither saved nor lost until one is chosen', async () => {
    const { development: api } = await server.freshOrganization()
    await news(api)
    const ada = await visitor(api, 'Ada Lovelace')
    const grace = await visitor(api, 'Grace Hopper')
    await hearNothing(grace)
    await subjectOf(ada).fill('Subject by Ada')
    await bodyOf(ada).fill('<p>Body by Ada</p>')
    await expect.poll(() => emailIn(api)).toMatchObject({ subject: 'Subject by Ada', body: '<p>Body by Ada</p>' })
    await addStep(ada, 'Add a step after Email', /^SMS/)
    await expect.poll(async () => (await storedIn(api)).steps.length).toBe(2)

    await subjectOf(grace).fill('Subject by Grace')
    const dialog = grace.getByRole('dialog', { name: 'Which one do you want to keep?' })
    await dialog.getByText('Ada Lovelace changed the same field as you and saved').waitFor()
    await dialog.getByRole('group', { name: 'Subject of Email' }).waitFor()
    await dialog.getByText('Subject by Ada').waitFor()
    await dialog.getByText('Subject by Grace').waitFor()
    expect(await dialog.getByRole('button', { name: '1 to choose' }).isDisabled()).toBe(true)
    expect(await axeViolations(grace)).toEqual([])
    await takeScreenshots(grace, 'together-compare')
    expect(await overflowOnPhone(grace, '[role="dialog"]')).toBe(0)
    await onDesktop(grace)

    // Later, and after a reload, it is still there.
    await dialog.getByRole('button', { name: 'Decide later' }).click()
    await grace.getByText('Not saved: choose below').waitFor()
    await subjectOf(grace).getByText('Subject by Grace').waitFor()
    expect((await emailIn(api)).subject).toBe('Subject by Ada')
    expect(await axeViolations(grace)).toEqual([])
    await takeScreenshots(grace, 'together-later')
    await grace.unroute('**/presence')
    grace.once('dialog', (asked) => void asked.accept())
    await grace.reload()
    await dialog.waitFor()
    await dialog.getByRole('button', { name: 'Decide later' }).click()
    await grace.getByRole('button', { name: 'Compare' }).click()
    await dialog.getByRole('radio', { name: /^Write another/ }).check()
    await dialog.getByRole('textbox', { name: 'Another subject' }).fill('Subject by both')
    await takeScreenshots(grace, 'together-another')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await saved(grace)
    await expect.poll(() => emailIn(api)).toMatchObject({ subject: 'Subject by both', body: '<p>Body by Ada</p>' })
    expect((await storedIn(api)).steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual(['email', 'sms-step'])
    await ada.locator('[data-step="email"]').click()
    await subjectOf(ada).getByText('Subject by both').waitFor()
  })

  test('the other side can be taken as it is, even of a program', async () => {
    const { development: api } = await server.freshOrganization()
    await news(api)
    const grace = await visitor(api, 'Grace Hopper')
    await hearNothing(grace)
    const { name, origin, active, preferences, steps } = await storedIn(api)
    const controlValues = {
      ...steps[0].controlValues,
      subject: 'Subject by a program',
      body: '<p>Body by a program</p>',
    }
    const put = await api.put('/v2/workflows/news', {
      ...{ name, origin, active, preferences: { workflow: preferences.default, user: preferences.user } },
      steps: [{ ...steps[0], controlValues }],
    })
    expect(put.status).toBe(200)
    await subjectOf(grace).fill('Subject by Grace')
    const dialog = grace.getByRole('dialog', { name: 'Which one do you want to keep?' })
    await dialog.getByText('Somebody changed the same field as you').waitFor()
    await dialog.getByRole('radio', { name: /^Theirs/ }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await subjectOf(grace).getByText('Subject by a program').waitFor()
    await bodyOf(grace).getByText('Body by a program').waitFor()
    await saved(grace)
    expect(await emailIn(api)).toEqual(controlValues)
  })

  test('two windows of one person are merged too', async () => {
    const { development: api } = await server.freshOrganization()
    await news(api)
    const first = await visitor(api, 'Ada Lovelace')
    const second = await first.context().newPage()
    await second.goto(first.url())
    await subjectOf(second).waitFor()
    await hearNothing(second)
    await bodyOf(first).fill('<p>In the first</p>')
    await saved(first)
    await expect.poll(async () => (await emailIn(api)).body).toBe('<p>In the first</p>')
    await subjectOf(second).fill('In the second')
    await second.getByText('In another window you changed the body of Email; both kept.').waitFor()
    await saved(second)
    await expect.poll(() => emailIn(api)).toMatchObject({ subject: 'In the second', body: '<p>In the first</p>' })
    await subjectOf(first).getByText('In the second').waitFor()
    expect(await first.getByText(/^Also here/).count()).toBe(0)
    await second.close()
  })

  test('a save whose answer is lost does not collide with what is typed after it', async () => {
    const { development: api } = await server.freshOrganization()
    await news(api)
    const ada = await visitor(api, 'Ada Lovelace')
    await hearNothing(ada)
    await ada.route('**/v2/workflows/news', async (route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      await route.fetch()
      await route.abort()
    })
    await subjectOf(ada).fill('First')
    await ada.getByText(/Not saved: Belfry cannot be reached/).waitFor()
    expect((await emailIn(api)).subject).toBe('First')
    await ada.unroute('**/v2/workflows/news')
    await subjectOf(ada).fill('First and second')
    await expect.poll(async () => (await emailIn(api)).subject).toBe('First and second')
    await saved(ada)
    expect(await ada.getByRole('dialog').count()).toBe(0)
  })

  test('where a button saves, it saves both', async () => {
    const { production: api } = await server.freshOrganization()
    await news(api)
    const ada = await visitor(api, 'Ada Lovelace', '/workflows/news?env=production&step=email')
    await subjectOf(ada).fill('Subject by Ada')
    await ada.getByRole('button', { name: 'Save changes' }).waitFor()
    expect((await api.patch('/v2/workflows/news', { name: 'Newsletter' })).status).toBe(200)
    await ada.getByText('Somebody changed the name; both kept.').waitFor()
    // Taken over, and still not saved.
    expect((await emailIn(api)).subject).toBe('News')
    await saveChanges(ada)
    await expect.poll(async () => (await emailIn(api)).subject).toBe('Subject by Ada')
    expect((await storedIn(api)).name).toBe('Newsletter')
  })

  test('several fields, and a step that one deleted and the other changed, are chosen one by one or all at once', async () => {
    const { production: api } = await server.freshOrganization()
    await news(api)
    const grace = await signInAs(server, api, 'editor')
    await server.database.db.updateTable('users').set({ name: 'ליאה גולדברג 🌿' }).where('id', '=', grace.id).execute()
    const replace = async (steps: (stored: any[]) => object[]) => {
      const { name, origin, active, preferences, steps: stored } = await storedIn(api)
      const given = { name, origin, active, preferences: { workflow: preferences.default, user: preferences.user } }
      const { status } = await grace.put('/v2/workflows/news', { ...given, steps: steps(stored) })
      expect(status).toBe(200)
    }
    const sms = { name: 'Text', stepId: 'text', type: 'sms', controlValues: { body: 'Hello' } }
    await replace((stored) => [...stored, sms])
    const ada = await visitor(api, 'Ada Lovelace', '/workflows/news?env=production&step=email')
    await hearNothing(ada)
    await subjectOf(ada).fill('Subject by Ada, {{subscriber.firstName}}')
    await bodyOf(ada).fill(`<p>${'A long text by Ada. '.repeat(30)}</p>`)
    await ada.locator('[data-step="text"]').click()
    await ada.getByRole('textbox', { name: 'Body' }).getByText('Hello').waitFor()
    await bodyOf(ada).fill('Text by Ada')
    await replace(([email]) => [
      { ...email, controlValues: { ...email.controlValues, subject: 'שלום', body: '<p>Short</p>' } },
    ])
    await saveChanges(ada)
    const dialog = ada.getByRole('dialog', { name: 'Which one do you want to keep?' })
    await dialog.getByText('changed the same 3 fields as you').waitFor()
    await dialog.getByRole('group', { name: 'Step “Text”' }).getByText('Deleted').waitFor()
    expect(await axeViolations(ada)).toEqual([])
    await takeScreenshots(ada, 'together-several')
    // Where the long text has to be scrolled.
    expect(await overflowOnPhone(ada, '[role="dialog"]')).toBe(0)
    expect(await axeViolations(ada)).toEqual([])
    await onDesktop(ada)
    await dialog.getByRole('button', { name: 'All of theirs' }).click()
    await dialog
      .getByRole('group', { name: 'Step “Text”' })
      .getByRole('radio', { name: /^Yours/ })
      .check()
    await dialog.getByRole('button', { name: 'Use these' }).click()
    // In Production it is still a button that saves.
    await saveChanges(ada)
    await saved(ada)
    const { steps } = await storedIn(api)
    expect(steps.map(({ stepId, controlValues }: any) => [stepId, controlValues.subject, controlValues.body])).toEqual([
      ['email', 'שלום', '<p>Short</p>'],
      ['text', undefined, 'Text by Ada'],
    ])
  })

  test('the header shows who else is here, until they leave', async () => {
    const { development: api } = await server.freshOrganization()
    await news(api)
    const ada = await visitor(api, 'Ada Lovelace')
    const grace = await visitor(api, 'Grace Hopper')
    await ada.getByText('Also here: Grace Hopper').waitFor()
    await grace.getByText('Also here: Ada Lovelace').waitFor()
    expect(await axeViolations(ada)).toEqual([])
    await takeScreenshots(ada, 'together-header')
    const mary = await visitor(api, 'Mary Somerville')
    await mary.getByText('Also here: Ada Lovelace and Grace Hopper').waitFor()
    await ada.getByText('Also here: Grace Hopper and Mary Somerville').waitFor()
    expect(await overflowOnPhone(ada)).toBe(0)

    await grace.close()
    await mary.close()
    server.clock.advance({ seconds: 31 })
    await ada.getByText(/^Also here/).waitFor({ state: 'detached' })
  })
})
