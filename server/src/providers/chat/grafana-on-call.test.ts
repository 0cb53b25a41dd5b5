import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { grafanaOnCall } from './grafana-on-call.ts'

const url = 'https://oncall.grafana.net/integrations/v1/formatted_webhook/hook-secret/'
const date = 'Fri, 01 May 2026 10:00:00 GMT'
const result = { providerMessageId: plainChat.id, date }

testProvider(grafanaOnCall, {
  credentials: {},
  message: { target: { type: 'webhook', url } },
  accepted: { headers: { Date: date }, body: 'Ok.' },
  errorBody: (message) => ({ message }),
  notJson: 'accepted',

  sends: [
    { title: 'as an alert', requests: [{ url, json: { message: 'Hi' } }], result },
    {
      title: 'as an alert with what is known of it',
      credentials: {
        alertUid: 'a1',
        title: 'Alert',
        imageUrl: 'https://i',
        state: 'alerting',
        externalLink: 'https://l',
      },
      message: { customData: { title: 'Mine' }, providerData: { state: 'ok' } },
      requests: [
        {
          url,
          json: {
            alert_uid: 'a1',
            title: 'Mine',
            image_url: 'https://i',
            state: 'ok',
            link_to_upstream_details: 'https://l',
            message: 'Hi',
          },
        },
      ],
      result,
    },
  ],
})
