import { describe, expect, test } from 'vitest'
import { situation } from './liquid.ts'
import { renderChat, renderInApp, renderPush, renderSms } from './messages.ts'
import { translatorFor } from './translations.ts'

const of = () =>
  situation({ payload: { name: 'Ann', html: '<b>x</b><script>y</script>', path: '/orders/1', empty: '' } }, new Date(0))

describe('in-app', () => {
  test('an in-app message can have every member', () => {
    expect(
      renderInApp(
        {
          subject: 'Hi {{payload.name}}',
          body: '{{payload.html}} & more',
          avatar: 'https://a.b/{{payload.name}}.png',
          primaryAction: { label: 'Open {{payload.name}}', redirect: { url: '{{payload.path}}' } },
          secondaryAction: { label: 'Later', redirect: { url: 'https://a.b', target: '_top' } },
          redirect: { url: 'https://a.b/?x=1&y=2' },
          data: { raw: '{{payload.html}}', '{{payload.name}}': 1 },
          skip: { '==': ['{{broken', 1] },
          disableOutputSanitization: false,
          unknown: 'x',
        },
        of(),
      ),
    ).toEqual({
      subject: 'Hi Ann',
      body: '<b>x</b> &amp; more',
      avatar: 'https://a.b/Ann.png',
      primaryAction: { label: 'Open Ann', redirect: { url: '/orders/1', target: '_self' } },
      secondaryAction: { label: 'Later', redirect: { url: 'https://a.b', target: '_top' } },
      redirect: { url: 'https://a.b/?x=1&y=2', target: '_blank' },
      data: { raw: '<b>x</b><script>y</script>', Ann: 1 },
    })
  })
  test('empty members are left out', () => {
    expect(
      renderInApp(
        {
          subject: '<script>x</script>',
          body: 'b',
          avatar: '{{payload.empty}}',
          primaryAction: { label: '{{payload.empty}}', redirect: { url: '/' } },
          secondaryAction: { label: 'L', redirect: { url: '{{payload.empty}}' } },
          redirect: { url: '' },
        },
        of(),
      ),
    ).toEqual({ body: 'b', secondaryAction: { label: 'L' } })
  })
  test('sanitizing can be turned off', () => {
    expect(renderInApp({ body: '{{payload.html}}', disableOutputSanitization: true }, of())).toEqual({
      body: '<b>x</b><script>y</script>',
    })
  })
  test.each([{}, { subject: '' }, { body: '{{payload.empty}}' }, { body: '<script>x</script>' }, { subject: 5 }])(
    'without subject and body there is no message: %j',
    (values) => {
      expect(() => renderInApp(values, of())).toThrow(expect.objectContaining({ code: 'empty_content' }))
    },
  )
  test('translations are used', () => {
    const translator = translatorFor({ defaultLocale: 'en', locales: { en: { hi: 'Hi {{payload.name}}' } } }, null)
    expect(renderInApp({ body: '{{t.hi}}' }, of(), translator)).toEqual({ body: 'Hi Ann' })
  })
})

test('SMS, chat and push are not HTML and are not sanitized', () => {
  const body = '{{payload.html}} & {{payload.name}}'
  const text = '<b>x</b><script>y</script> & Ann'
  expect(renderSms({ body, skip: {} }, of())).toEqual({ body: text })
  expect(renderChat({ body }, of())).toEqual({ body: text })
  expect(renderPush({ subject: 'For {{payload.name}}', body }, of())).toEqual({ subject: 'For Ann', body: text })
})

test('the same values make different kinds of messages', () => {
  const values = { subject: 's', body: 'b' }
  expect([renderSms(values, of()), renderPush(values, of()), renderInApp(values, of())]).toEqual([
    { body: 'b' },
    values,
    values,
  ])
})

test.each([
  [() => renderSms({}, of()), 'The SMS has no body'],
  [() => renderChat({ body: null }, of()), 'The chat message has no body'],
  [() => renderPush({ body: 'x' }, of()), 'The push message has no subject'],
  [() => renderPush({ subject: 'x' }, of()), 'The push message has no body'],
])('the error names the missing member', (render, message) => {
  expect(render).toThrow(expect.objectContaining({ code: 'empty_content', message }))
})
