import { chatProvider, optional, text, textAt } from '../provider.ts'
import { webhookOf, webhookProblem } from './webhook.ts'

export const grafanaOnCall = chatProvider({
  id: 'grafana-on-call',
  name: 'Grafana OnCall',
  docs: 'https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/',
  credentials: {
    alertUid: optional(text('Alert UID', 'Alerts with the same one are grouped')),
    title: optional(text('Title')),
    imageUrl: optional(text('Image URL')),
    state: optional(text('State', 'ok or alerting')),
    externalLink: optional(text('Link to your monitoring system')),
  },
  naming: { casing: 'snake' },

  async send(message, credentials, { deliver, error }) {
    const { url } = webhookOf(message, 'Grafana On Call', error)
    const own = (name: keyof typeof credentials) => textAt(message.customData, name) ?? credentials[name]
    const { headers } = await deliver(url, {
      json: {
        alert_uid: own('alertUid'),
        title: own('title'),
        image_url: own('imageUrl'),
        state: own('state'),
        link_to_upstream_details: own('externalLink'),
        message: message.content,
      },
    })
    return { providerMessageId: undefined, date: headers.date }
  },

  problem: webhookProblem,
})
