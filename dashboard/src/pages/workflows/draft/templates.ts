// Templates for new workflows.
import { productTemplates } from './product-templates.ts'
import {
  button,
  document,
  heading,
  paragraph,
  payloadSchema,
  string,
  type Template,
  text,
  variable,
} from './template-parts.ts'

export const templates: Template[] = [
  {
    id: 'blank',
    name: 'Blank',
    description: 'Only the trigger. Add steps as you go.',
    suggestion: '',
    workflow: { steps: [] },
  },
  {
    id: 'welcome',
    name: 'Welcome email',
    description: 'An email at once, and an inbox hint a day later.',
    suggestion: 'Welcome',
    workflow: {
      tags: ['onboarding'],
      payloadSchema: payloadSchema({ loginUrl: string('https://app.example.com/login') }),
      validatePayload: false,
      steps: [
        {
          name: 'Welcome email',
          stepId: 'welcome-email',
          type: 'email',
          controlValues: {
            editorType: 'block',
            subject: 'Welcome, {{subscriber.firstName}}',
            body: document(
              heading(1, text('Welcome, '), variable('subscriber.firstName', 'there')),
              paragraph(text('Your account is ready. Here is the one thing to do first.')),
              button('Open your account', 'payload.loginUrl'),
            ),
          },
        },
        {
          name: 'Wait a day',
          stepId: 'wait-a-day',
          type: 'delay',
          controlValues: { type: 'regular', amount: 1, unit: 'days' },
        },
        {
          name: 'Inbox hint',
          stepId: 'inbox-hint',
          type: 'in_app',
          controlValues: {
            subject: 'Need a hand getting started?',
            body: 'Reply to any of our emails, {{subscriber.firstName}}: people read them.',
          },
        },
      ],
    },
  },
  {
    id: 'comments',
    name: 'Comment digest',
    description: 'Inbox at once; an email that collects ten minutes of comments.',
    suggestion: 'Comments',
    workflow: {
      tags: ['social'],
      payloadSchema: payloadSchema({
        author: string('Grace'),
        comment: string('Looks great!'),
        url: string('https://app.example.com/posts/1'),
      }),
      validatePayload: false,
      steps: [
        {
          name: 'Inbox',
          stepId: 'inbox',
          type: 'in_app',
          controlValues: {
            subject: '{{payload.author}} commented',
            body: '{{payload.comment}}',
            redirect: { url: '{{payload.url}}', target: '_self' },
          },
        },
        {
          name: 'Collect comments',
          stepId: 'collect-comments',
          type: 'digest',
          controlValues: { type: 'regular', amount: 10, unit: 'minutes' },
        },
        {
          name: 'Digest email',
          stepId: 'digest-email',
          type: 'email',
          controlValues: {
            editorType: 'block',
            subject: '{{steps.collect-comments.eventCount | pluralize: "new comment"}}',
            body: document(
              heading(2, text('While you were away')),
              {
                type: 'repeat',
                attrs: { each: 'steps.collect-comments.events', iterations: 10 },
                content: [
                  paragraph(
                    variable('steps.collect-comments.events.payload.author'),
                    text(': '),
                    variable('steps.collect-comments.events.payload.comment'),
                  ),
                ],
              },
              button('See all comments', 'payload.url'),
            ),
          },
        },
      ],
    },
  },
  {
    id: 'password-reset',
    name: 'Password reset',
    description: 'A critical email that nobody can turn off.',
    suggestion: 'Password reset',
    workflow: {
      tags: ['security'],
      severity: 'high',
      preferences: { workflow: { all: { enabled: true, readOnly: true } } },
      payloadSchema: payloadSchema({ resetUrl: string('https://app.example.com/reset/abc') }, ['resetUrl']),
      validatePayload: true,
      steps: [
        {
          name: 'Reset email',
          stepId: 'reset-email',
          type: 'email',
          controlValues: {
            editorType: 'block',
            subject: 'Reset your password',
            body: document(
              heading(2, text('Reset your password')),
              paragraph(
                text('Somebody asked for a new password for your account. If it was not you, ignore this email.'),
              ),
              button('Choose a new password', 'payload.resetUrl'),
            ),
          },
        },
      ],
    },
  },
  {
    id: 'payment-failed',
    name: 'Payment failed',
    description: 'Email and inbox now; a text message if nothing happens for three days.',
    suggestion: 'Payment failed',
    workflow: {
      tags: ['billing'],
      severity: 'high',
      payloadSchema: payloadSchema({ amount: string('€ 42.00'), payUrl: string('https://app.example.com/pay') }),
      validatePayload: false,
      steps: [
        {
          name: 'Email',
          stepId: 'email',
          type: 'email',
          controlValues: {
            editorType: 'block',
            subject: 'Your payment of {{payload.amount}} did not go through',
            body: document(
              paragraph(text('Hello '), variable('subscriber.firstName', 'there'), text(',')),
              paragraph(text('your bank refused the payment of '), variable('payload.amount'), text('.')),
              button('Pay now', 'payload.payUrl'),
            ),
          },
        },
        {
          name: 'Inbox',
          stepId: 'inbox',
          type: 'in_app',
          controlValues: {
            subject: 'Payment failed',
            body: '{{payload.amount}} could not be charged.',
            primaryAction: { label: 'Pay now', redirect: { url: '{{payload.payUrl}}', target: '_blank' } },
          },
        },
        {
          name: 'Three days',
          stepId: 'three-days',
          type: 'delay',
          controlValues: { type: 'regular', amount: 3, unit: 'days' },
        },
        {
          name: 'Text message',
          stepId: 'text-message',
          type: 'sms',
          controlValues: {
            body: 'Your payment of {{payload.amount}} is still open: {{payload.payUrl}}',
            skip: { '==': [{ var: 'steps.inbox.read' }, false] },
          },
        },
      ],
    },
  },
  ...productTemplates,
]
