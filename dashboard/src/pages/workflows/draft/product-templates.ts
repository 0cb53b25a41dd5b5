// Templates for what most products send, by subject: accounts, orders, teams, billing, operations.
import {
  action,
  button,
  chat,
  collect,
  critical,
  email,
  heading,
  inbox,
  limit,
  paragraph,
  payload,
  push,
  sms,
  type Template,
  text,
  variable,
  wait,
} from './template-parts.ts'

const hello = paragraph(text('Hello '), variable('subscriber.firstName', 'there'), text(','))

export const productTemplates: Template[] = [
  {
    id: 'confirm-email',
    name: 'Confirm an address',
    description: 'A link that proves the address is theirs.',
    suggestion: 'Confirm your email',
    workflow: {
      tags: ['account'],
      ...critical,
      ...payload({ confirmUrl: 'https://app.example.com/confirm/abc' }),
      steps: [
        email(
          'Confirm your email address',
          heading(2, text('One click left')),
          paragraph(text('Confirm that this address is yours. The link works for a day.')),
          button('Confirm the address', 'payload.confirmUrl'),
        ),
      ],
    },
  },
  {
    id: 'one-time-code',
    name: 'One-time code',
    description: 'A sign-in code by text message, and by email.',
    suggestion: 'One-time code',
    workflow: {
      tags: ['security'],
      ...critical,
      ...payload({ code: '482913', minutes: '10' }),
      steps: [
        sms('{{payload.code}} is your code. It is valid for {{payload.minutes}} minutes. Share it with nobody.'),
        email(
          'Your code is {{payload.code}}',
          heading(1, variable('payload.code')),
          paragraph(text('It is valid for '), variable('payload.minutes'), text(' minutes. Share it with nobody.')),
        ),
      ],
    },
  },
  {
    id: 'new-sign-in',
    name: 'New sign-in',
    description: 'Warns at once when somebody signs in from a new device.',
    suggestion: 'New sign-in',
    workflow: {
      tags: ['security'],
      ...critical,
      ...payload({
        device: 'Firefox on Linux',
        place: 'Berlin, Germany',
        securityUrl: 'https://app.example.com/security',
      }),
      steps: [
        inbox('New sign-in', '{{payload.device}}, {{payload.place}}', action('Was it you?', 'securityUrl')),
        push('New sign-in', '{{payload.device}}, {{payload.place}}. Was it you?'),
        email(
          'New sign-in from {{payload.device}}',
          hello,
          paragraph(
            text('somebody signed in to your account with '),
            variable('payload.device'),
            text(' from '),
            variable('payload.place'),
            text('. If it was not you, change your password now.'),
          ),
          button('Check my account', 'payload.securityUrl'),
        ),
      ],
    },
  },
  {
    id: 'order-confirmed',
    name: 'Order confirmed',
    description: 'A receipt by email and a note in the inbox.',
    suggestion: 'Order confirmed',
    workflow: {
      tags: ['orders'],
      ...payload({ number: '1024', total: '€ 42.00', orderUrl: 'https://shop.example.com/orders/1024' }),
      steps: [
        email(
          'Order {{payload.number}} is confirmed',
          heading(2, text('Thank you, '), variable('subscriber.firstName', 'friend')),
          paragraph(
            text('We have your order '),
            variable('payload.number'),
            text(' over '),
            variable('payload.total'),
            text('.'),
          ),
          button('See the order', 'payload.orderUrl'),
        ),
        inbox('Order {{payload.number}} is confirmed', 'Total: {{payload.total}}', action('See it', 'orderUrl')),
      ],
    },
  },
  {
    id: 'order-shipped',
    name: 'Order shipped',
    description: 'Push and inbox with the tracking link; an email for the record.',
    suggestion: 'Order shipped',
    workflow: {
      tags: ['orders'],
      ...payload({ number: '1024', carrier: 'DHL', trackUrl: 'https://track.example.com/1024' }),
      steps: [
        push('On its way', 'Order {{payload.number}} has left with {{payload.carrier}}.'),
        inbox('Order {{payload.number}} is on its way', 'With {{payload.carrier}}', action('Track it', 'trackUrl')),
        email(
          'Order {{payload.number}} is on its way',
          hello,
          paragraph(text('your parcel has left with '), variable('payload.carrier'), text('.')),
          button('Track the parcel', 'payload.trackUrl'),
        ),
      ],
    },
  },
  {
    id: 'abandoned-cart',
    name: 'Abandoned cart',
    description: 'A reminder after three hours.',
    suggestion: 'Abandoned cart',
    workflow: {
      tags: ['marketing'],
      ...payload({ product: 'Walnut desk', cartUrl: 'https://shop.example.com/cart' }),
      steps: [
        wait(3, 'hours'),
        email(
          'Still thinking about {{payload.product}}?',
          heading(2, text('Your cart is waiting')),
          paragraph(variable('payload.product'), text(' is still in it. Nothing is lost.')),
          button('Back to the cart', 'payload.cartUrl'),
        ),
      ],
    },
  },
  {
    id: 'team-invitation',
    name: 'Team invitation',
    description: 'An email, and a reminder after three days.',
    suggestion: 'Team invitation',
    workflow: {
      tags: ['team'],
      ...payload({ inviter: 'Grace', team: 'Design', joinUrl: 'https://app.example.com/join/abc' }),
      steps: [
        email(
          '{{payload.inviter}} invites you to {{payload.team}}',
          heading(2, text('Join '), variable('payload.team')),
          paragraph(variable('payload.inviter'), text(' would like to work with you.')),
          button('Accept the invitation', 'payload.joinUrl'),
        ),
        wait(3, 'days'),
        inbox(
          'Your invitation to {{payload.team}} is still open',
          'From {{payload.inviter}}',
          action('Join', 'joinUrl'),
        ),
      ],
    },
  },
  {
    id: 'mention',
    name: 'Mention',
    description: 'Inbox, push and the team chat at once.',
    suggestion: 'Mention',
    workflow: {
      tags: ['social'],
      ...payload({ author: 'Grace', where: 'Q3 plan', url: 'https://app.example.com/docs/q3' }),
      steps: [
        inbox('{{payload.author}} mentioned you', 'In {{payload.where}}', action('Open', 'url')),
        push('{{payload.author}} mentioned you', 'In {{payload.where}}'),
        chat('{{payload.author}} mentioned you in {{payload.where}}: {{payload.url}}'),
      ],
    },
  },
  {
    id: 'approval-needed',
    name: 'Approval needed',
    description: 'Two buttons in the inbox, and an email if it waits for four hours.',
    suggestion: 'Approval needed',
    workflow: {
      tags: ['team'],
      ...payload({ who: 'Margaret', what: 'Travel to Oslo', reviewUrl: 'https://app.example.com/approvals/7' }),
      steps: [
        inbox('{{payload.who}} asks for your approval', '{{payload.what}}', action('Review', 'reviewUrl')),
        wait(4, 'hours'),
        email(
          'Still waiting: {{payload.what}}',
          hello,
          paragraph(
            variable('payload.who'),
            text(' is waiting for your decision on '),
            variable('payload.what'),
            text('.'),
          ),
          button('Review it', 'payload.reviewUrl'),
        ),
      ],
    },
  },
  {
    id: 'trial-ends',
    name: 'Trial ends soon',
    description: 'An email now, and a note in the inbox two days later.',
    suggestion: 'Trial ends soon',
    workflow: {
      tags: ['billing'],
      ...payload({ endsOn: 'May 12', planUrl: 'https://app.example.com/plans' }),
      steps: [
        email(
          'Your trial ends on {{payload.endsOn}}',
          hello,
          paragraph(
            text('your trial ends on '),
            variable('payload.endsOn'),
            text('. Choose a plan to keep your data.'),
          ),
          button('Choose a plan', 'payload.planUrl'),
        ),
        wait(2, 'days'),
        inbox('Your trial ends on {{payload.endsOn}}', 'Choose a plan to keep your data.', action('Plans', 'planUrl')),
      ],
    },
  },
  {
    id: 'invoice',
    name: 'Invoice ready',
    description: 'A link to the invoice by email.',
    suggestion: 'Invoice ready',
    workflow: {
      tags: ['billing'],
      ...payload({ number: 'INV-204', amount: '€ 99.00', invoiceUrl: 'https://app.example.com/invoices/204' }),
      steps: [
        email(
          'Invoice {{payload.number}} over {{payload.amount}}',
          hello,
          paragraph(text('your invoice '), variable('payload.number'), text(' is ready.')),
          button('Open the invoice', 'payload.invoiceUrl'),
        ),
      ],
    },
  },
  {
    id: 'incident',
    name: 'Incident alert',
    description: 'To chat, push and phone at once; not more than five an hour.',
    suggestion: 'Incident alert',
    workflow: {
      tags: ['operations'],
      severity: 'high',
      ...payload({ service: 'Payments', problem: '12 of 20 charges failed', url: 'https://status.example.com' }),
      steps: [
        limit(5, 1, 'hours'),
        chat('{{payload.service}}: {{payload.problem}} {{payload.url}}'),
        push('{{payload.service}} has a problem', '{{payload.problem}}'),
        sms('{{payload.service}}: {{payload.problem}}'),
      ],
    },
  },
  {
    id: 'weekly-summary',
    name: 'Weekly summary',
    description: 'Collects what happened for a week, then sends one email.',
    suggestion: 'Weekly summary',
    workflow: {
      tags: ['product'],
      ...payload({ what: 'Grace finished “Q3 plan”', url: 'https://app.example.com' }),
      steps: [
        collect(7, 'days'),
        email(
          'Your week: {{steps.collect.eventCount | pluralize: "event"}}',
          heading(2, text('Your week')),
          {
            type: 'repeat',
            attrs: { each: 'steps.collect.events', iterations: 20 },
            content: [paragraph(variable('steps.collect.events.payload.what'))],
          },
          button('Open', 'payload.url'),
        ),
      ],
    },
  },
  {
    id: 'release-note',
    name: 'Product news',
    description: 'A note in the inbox that people may turn off.',
    suggestion: 'Product news',
    workflow: {
      tags: ['product'],
      severity: 'low',
      ...payload({ title: 'Dark mode is here', text: 'Turn it on in your settings.', url: 'https://example.com/news' }),
      steps: [inbox('{{payload.title}}', '{{payload.text}}', action('Read more', 'url'))],
    },
  },
]
