import { expect, test } from 'vitest'
import { deliveryProviders, extraProviders } from '../../../../server/src/providers/index.ts'
import { hueOf, lettersOf, logoOf } from './provider-marks.ts'

/** Hues closer than this are hard to tell apart. */
const leastApart = 30
const apart = (one: number, other: number) => Math.min(Math.abs(one - other), 360 - Math.abs(one - other))

test('no two providers of a channel look alike', () => {
  const all = [...deliveryProviders, ...extraProviders].filter(({ id }) => !id.startsWith('svc-'))
  const alike = all.flatMap((one, index) =>
    all
      .slice(index + 1)
      .filter((other) => other.channel === one.channel)
      .filter((other) => {
        const [logo, otherLogo] = [logoOf(one.id), logoOf(other.id)]
        if (logo || otherLogo) return logo?.path === otherLogo?.path
        return lettersOf(one.name) === lettersOf(other.name) && apart(hueOf(one.id), hueOf(other.id)) < leastApart
      })
      .map((other) => `${one.id} and ${other.id}`),
  )
  expect(alike).toEqual([])
})

test('letters are the initials of two words, or the first two of one', () => {
  const names = ['Amazon SES', 'Twilio', 'SMS Central', 'Email Webhook', '46elks', 'MailerSend']
  expect(names.map(lettersOf)).toEqual(['AS', 'Tw', 'Ce', 'EW', '46', 'MS'])
})
