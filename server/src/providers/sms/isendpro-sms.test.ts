import { testProvider } from '../../../test/provider-suite.ts'
import { isendproSms } from './isendpro-sms.ts'

const url = 'https://apirest.isendpro.com/cgi-bin/sms'
const plain = { keyid: 'api-key', sms: 'Hi', num: '15550100', emetteur: 'Acme' }
const verdict = (code: string, message: string) => ({ etat: { etat: [{ code, message, tel: '15550100' }] } })
/** It usually returns no id, so ours is stored. */
const result = { providerMessageId: '6630a1b2c3d4e5f601020304' }

testProvider(isendproSms, {
  credentials: { apiKey: 'api-key', from: 'Acme' },
  accepted: { body: verdict('0', 'envoi OK') },
  errorBody: (words) => verdict('9', words),

  sends: [
    { title: 'to a number without its sign', requests: [{ url, form: plain }], result },
    {
      title: 'from the service itself where no sender is configured, and its id is kept if there is one',
      credentials: { from: '' },
      replies: [{ body: { id: 'id-1' } }],
      requests: [{ url, form: { ...plain, emetteur: 'ACME' } }],
      result: { providerMessageId: 'id-1' },
    },
    {
      title: "with members of the provider's own",
      message: { from: 'Shop', providerData: { message: { text: 'Ho', to: '0033612345678' }, nostop: '1' } },
      requests: [{ url, form: { ...plain, sms: 'Ho', num: '33612345678', emetteur: 'Shop', nostop: '1' } }],
      result,
    },
  ],

  refusals: [
    [
      'an answer of success says the key is wrong',
      { body: verdict('2', 'keyid inconnu') },
      { code: 'unauthorized', kind: 'credentials', says: 'keyid inconnu' },
    ],
    ['there is no money left', { body: verdict('3', 'Crédit insuffisant') }, { code: 'quota_exhausted' }],
  ],
})
