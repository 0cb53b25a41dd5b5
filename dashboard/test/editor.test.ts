// What the workflow editor says before anything is sent: issues, conditions, digests that can be tried, previews, blocks.
import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { PersonApi } from '../../server/test/people.ts'
import type { Api } from '../../server/test/server.ts'
import { axeViolations, follow, takeScreenshots, useDashboard } from './dashboard.ts'
import { saved } from './hands.ts'

const { server, open } = useDashboard()

let api: Api
let page: Page
let person: PersonApi

const repeat = (each: string) =>
  JSON.stringify({
    type: 'doc',
    content: [{ type: 'repeat', attrs: { each }, content: [{ type: 'paragraph' }] }],
  })

const translate = async (resourceId: string, locale: string, content: object) => {
  const answer = await api.post('/v2/translations', { resourceId, resourceType: 'workflow', locale, content })
  expect(answer, answer.text).toMatchObject({ status: 200 })
}

beforeAll(async () => {
  const { development } = await server.freshOrganization()
  api = development
  const make = async (workflowId: string, steps: object[], more: object = {}) => {
    const answer = await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps, ...more })
    expect(answer, answer.text).toMatchObject({ status: 201 })
  }
  const text = { name: 'Text', stepId: 'text', type: 'sms', controlValues: { body: '{{t.greeting}} {{payload.name}}' } }
  await make('untranslated', [text], { isTranslationEnabled: true })
  await make('translated', [text], { isTranslationEnabled: true })
  await translate('translated', 'en_US', { greeting: 'Hello' })
  await make('digest', [
    {
      name: 'Collect',
      stepId: 'collect',
      type: 'digest',
      controlValues: { type: 'regular', amount: 1, unit: 'days' },
    },
    {
      name: 'Inbox',
      stepId: 'inbox',
      type: 'in_app',
      controlValues: { body: "{{steps.collect.events | toSentence: 'payload.author'}}" },
    },
    {
      name: 'Mail',
      stepId: 'mail',
      type: 'email',
      controlValues: { editorType: 'block', subject: 'News', body: JSON.stringify({ type: 'doc', content: [] }) },
    },
  ])
  const plan = { '==': [{ var: 'payload.plan' }, 'pro'] }
  const total = { '>': [{ var: 'payload.total' }, 10] }
  await make('plans', [
    { name: 'For pros', stepId: 'pros', type: 'in_app', controlValues: { body: 'Hi', skip: { and: [plan, total] } } },
    { name: 'For all', stepId: 'all', type: 'in_app', controlValues: { body: 'Hi {{payload.plan}}{{payload.total}}' } },
  ])
  await make('blank', [{ name: 'Mail', stepId: 'mail', type: 'email', controlValues: { editorType: 'html' } }])
  await make('empty-repeat', [
    {
      name: 'Mail',
      stepId: 'mail',
      type: 'email',
      controlValues: { editorType: 'block', subject: 'News', body: repeat('') },
    },
  ])
})

beforeEach(async () => {
  const visit = await open({ api, path: '/workflows' })
  page = visit.page
  person = visit.person
})

const issues = (text: string) => page.getByRole('button', { name: text })
const preview = () => page.locator('[data-preview]')

/** Replaces the text of a JSON field, such as the example payload. */
async function writeJson(label: string, value: unknown) {
  const field = page.getByRole('textbox', { name: label, exact: true })
  await field.click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(JSON.stringify(value))
}

test('a translation key, a Repeat and a variable that would fail are issues, at the header and on the card', async () => {
  await follow(page, '/workflows/untranslated?step=text')
  await page.getByText('There is no translation for "greeting"').first().waitFor()
  await issues('1 issue').waitFor()
  await translate('untranslated', 'en_US', { greeting: 'Hello' })
  await page.reload()
  await page.getByText('No issues').waitFor()

  await page.getByRole('button', { name: /^Example payload/ }).click()
  await writeJson('Payload', { nme: 'Ada' })
  await page.getByText('No payload so far has “payload.name”').first().waitFor()
  await issues('1 issue').waitFor()
  await page.getByRole('button', { name: 'Back to the example' }).click()
  await page.getByText('No issues').waitFor()

  await follow(page, '/workflows/empty-repeat')
  await issues('1 issue').click()
  await page.getByRole('menuitem', { name: /Choose the list/ }).click()
  await page.getByText('Choose the list that the Repeat block goes through').first().waitFor()
})

test('an empty field says what it wants, and is red only once somebody has been there', async () => {
  await follow(page, '/workflows/blank?step=mail')
  const wrong = page.locator('[data-invalid="true"], [aria-invalid="true"]')
  await page.getByText('Subject is required').waitFor()
  await issues('1 issue').waitFor()
  expect(await wrong.count()).toBe(0)
  await page.getByRole('textbox', { name: 'Subject' }).click()
  await page.keyboard.press('Tab')
  await expect.poll(() => wrong.count()).toBe(1)
  await page.getByRole('textbox', { name: 'Subject' }).fill('News')
  await expect.poll(() => wrong.count()).toBe(0)
})

test('the preview is shown in another language and as others see it', async () => {
  const locales = { defaultLocale: 'en_US', targetLocales: ['de_DE'] }
  expect((await person.patch('/v1/organizations/settings', locales)).status).toBe(200)
  await translate('translated', 'de_DE', { greeting: 'Guten Tag' })
  await follow(page, '/workflows/translated?step=text')
  await preview().getByText('Hello name').waitFor()
  await page.getByRole('combobox', { name: 'Language' }).click()
  await page.getByRole('option', { name: 'German (Germany)' }).click()
  await preview().getByText('Guten Tag name').waitFor()
  const see = async (label: string) => {
    await page.getByRole('combobox', { name: 'Seen' }).click()
    await page.getByRole('option', { name: label }).click()
    return preview().locator('[data-sight]').getAttribute('style')
  }
  expect(await see('Without green')).toContain('sight-deuteranopia')
  expect(await see('In dark mode')).toContain('color-scheme: dark')
  expect(await axeViolations(page)).toEqual([])

  await follow(page, '/workflows/digest?step=mail')
  await page
    .getByRole('button', { name: '320 px' })
    .or(page.getByRole('radio', { name: '320 px' }))
    .click()
  await expect.poll(async () => Math.round((await preview().locator('article').boundingBox())?.width ?? 0)).toBe(320)
})

test('each row of a condition says whether it holds, and the flow greys out what would not run', async () => {
  await follow(page, '/workflows/plans?step=pros')
  const payload = page.getByRole('button', { name: /^Example payload/ })
  await payload.click()
  await writeJson('Payload', { plan: 'pro', total: 5 })
  await page.getByRole('button', { name: /^Condition/ }).click()
  await page.getByText('Skipped with this payload').waitFor()
  await expect.poll(() => page.getByText('Holds', { exact: true }).count(), { timeout: 30_000 }).toBe(1)
  await expect.poll(() => page.getByText('Does not hold', { exact: true }).count(), { timeout: 30_000 }).toBe(1)
  await page.locator('[data-flow]').getByText('would be skipped').waitFor()
  await takeScreenshots(page, 'editor-condition')
  await writeJson('Payload', { plan: 'pro', total: 50 })
  await page.getByText('Runs with this payload').waitFor()
  await page.locator('[data-flow]').getByText('would be skipped').waitFor({ state: 'detached' })
})

/** The queue works while the page polls. */
async function working<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false
  const queue = (async () => {
    while (!isOver) {
      await server.drain()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  try {
    return await work()
  } finally {
    isOver = true
    await queue
  }
}

test('a digest is tried at once: several events, their count, and one message of what was collected', async () => {
  await follow(page, '/workflows/digest?step=inbox')
  await page.getByRole('button', { name: /^Example events/ }).click()
  await writeJson('Events', [{ author: 'Ada' }, { author: 'Grace' }])
  await preview().getByText('Ada and Grace').waitFor()
  await takeScreenshots(page, 'editor-events')

  await page.getByRole('button', { name: /^Test run/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Test run' })
  expect(await dialog.getByLabel('Events').inputValue()).toBe('2')
  await working(async () => {
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog.getByText('2 events collected so far.').waitFor()
    await takeScreenshots(page, 'editor-collected')
    await dialog.getByRole('button', { name: 'Send what is collected now' }).click()
    await dialog.getByText('The run is done').waitFor()
  })
  const messages = async () =>
    (await api.get('/v1/messages?channel=in_app')).body.data.map(({ content }: { content: string }) => content)
  expect(await messages()).toEqual(['Ada and Grace'])

  await dialog.getByLabel('Skip waits').click()
  await working(async () => {
    await dialog.getByRole('button', { name: 'Run again' }).click()
    await dialog.getByText('The run is in progress').or(dialog.getByText('Accepted')).first().waitFor()
    await dialog.getByText('The run is done').waitFor()
  })
  expect(await messages()).toEqual(['Ada and Grace', 'Ada and Grace'])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox()
  if (!box) throw new Error('It is not shown.')
  return box
}

test('blocks: a menu behind "/", a Repeat filled in, settings beside it, a way below it, and a handle to drag', async () => {
  await follow(page, '/workflows/digest?step=mail')
  const body = page.getByRole('textbox', { name: 'Body' })
  await body.click()
  await page.keyboard.type('/rep')
  await page.getByRole('option', { name: 'Repeat' }).waitFor()
  await page.keyboard.press('Enter')
  const box = body.locator('[data-block="repeat"]')
  await box.waitFor()
  expect(await box.getAttribute('data-label')).toBe('Repeat for each of steps.collect.events')
  await page.keyboard.type('{{')
  await page.getByRole('option', { name: /payload\.author.*of each item/ }).click()
  await box.locator('[data-block="variable"]').first().waitFor()

  // The settings of the box one writes in open by a button, and never lie over the box.
  await page.getByRole('button', { name: 'Repeat', exact: true }).click()
  const settings = page.getByRole('region', { name: 'Block settings: Repeat' })
  await settings.waitFor()
  await takeScreenshots(page, 'editor-new-blocks')
  const [block, beside] = [await boxOf(box), await boxOf(settings)]
  const isApart =
    beside.x >= block.x + block.width || beside.x + beside.width <= block.x || beside.y >= block.y + block.height
  expect(isApart).toBe(true)
  await settings.getByRole('button', { name: 'Close' }).click()

  // Below a last Repeat: by keyboard, then by mouse. Two chips take two lines: the cursor has to stand in the last one.
  const line = box.locator('p').last()
  const { width, height } = await boxOf(line)
  await line.click({ position: { x: width - 4, y: height - 4 } })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.type('By keyboard')
  await body.locator(':scope > p', { hasText: 'By keyboard' }).waitFor()
  await page.keyboard.press('Alt+ArrowUp')
  await expect.poll(() => body.locator(':scope > *').last().getAttribute('data-block')).toBe('repeat')
  const end = await boxOf(body)
  await page.mouse.click(end.x + 60, end.y + end.height - 8)
  await page.keyboard.type('By mouse')
  await body.locator(':scope > p', { hasText: 'By mouse' }).waitFor()

  const first = body.locator(':scope > p', { hasText: 'By keyboard' })
  await first.hover()
  const last = await boxOf(body.locator(':scope > p', { hasText: 'By mouse' }))
  await page.getByRole('button', { name: 'Drag the block' }).dragTo(body, {
    targetPosition: { x: 80, y: last.y + last.height + 3 - (await boxOf(body)).y },
  })
  await expect.poll(() => body.locator(':scope > p').last().textContent()).toBe('By keyboard')
  await saved(page)
  expect(await axeViolations(page)).toEqual([])
})

test('a language is added from the sheet, and its keys are completed in templates', async () => {
  await follow(page, '/translations/workflow:translated')
  await page.getByRole('combobox', { name: 'Add a language' }).click()
  await page.keyboard.type('Klingon')
  await page.keyboard.press('Enter')
  await page.getByText('“Klingon” is not a language.').waitFor()
  await page.getByRole('combobox', { name: 'Add a language' }).click()
  await page.keyboard.type('Canadian French')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^Canadian French/ }).waitFor()
  expect((await person.get('/v1/organizations/settings')).body.targetLocales).toContain('fr_CA')
  await takeScreenshots(page, 'translations-sheet')

  await follow(page, '/workflows/translated?step=text')
  const text = page.getByRole('textbox', { name: 'Body' })
  await text.click()
  await page.keyboard.press('End')
  await page.keyboard.type(' {{t.')
  await page.getByRole('option', { name: /t\.greeting/ }).waitFor()
})
