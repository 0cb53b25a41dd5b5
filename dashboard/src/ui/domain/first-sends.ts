// The three sends of the guided start: for each channel a small workflow, a trigger, and where the message arrives.
import { queryOptions } from '@tanstack/react-query'
import { api, type Body, inEnvironment } from '../../api/client.ts'

export type FirstChannel = 'in_app' | 'email' | 'sms'

interface FirstSend {
  workflow: Body<'POST /v2/workflows'>
  title: string
  explanation: string
}

const workflow = (
  workflowId: string,
  name: string,
  type: FirstChannel,
  controlValues: Record<string, string>,
): FirstSend['workflow'] => ({
  name,
  workflowId,
  active: true,
  tags: ['guided-start'],
  steps: [{ name: type === 'sms' ? 'SMS' : type === 'email' ? 'Email' : 'In-app', type, controlValues }],
})

const emailBody = `<div style="font-family: system-ui, sans-serif; max-width: 480px">
  <h1 style="font-size: 20px">It works, {{subscriber.firstName}}.</h1>
  <p style="color: #52525b">This email went from your trigger through a workflow to a provider. The provider is the sandbox:
  it delivers to nobody, so you can try anything. Connect a real one when you are ready.</p>
</div>`

export const firstSends: Record<FirstChannel, FirstSend> = {
  in_app: {
    title: 'An in-app message',
    explanation: 'It appears in the inbox you embed in your product.',
    workflow: workflow('first-in-app', 'First in-app message', 'in_app', {
      subject: 'Hello {{subscriber.firstName}}',
      body: 'This message came all the way from a trigger to your inbox.',
    }),
  },
  email: {
    title: 'An email',
    explanation: 'It goes to the sandbox mailbox: nothing to set up, and nobody receives it.',
    workflow: workflow('first-email', 'First email', 'email', {
      subject: 'Hello {{subscriber.firstName}}, your first email',
      editorType: 'html',
      body: emailBody,
    }),
  },
  sms: {
    title: 'A text message',
    explanation: 'The same trigger, another channel. It goes to the sandbox too.',
    workflow: workflow('first-sms', 'First text message', 'sms', {
      body: 'Hello {{subscriber.firstName}}, this is your first text message.',
    }),
  },
}

export interface Recipient {
  subscriberId: string
  firstName: string
  email: string
  phone: string
}

export const triggerOf = (channel: FirstChannel, to: Recipient) => ({
  name: firstSends[channel].workflow.workflowId,
  to,
})

/** @returns the transaction id, which identifies the run and the message */
export async function sendFirst(channel: FirstChannel, to: Recipient): Promise<string> {
  const { workflow } = firstSends[channel]
  await createOnce(workflow)
  const { transactionId, status, error } = await api('POST /v1/events/trigger', { body: triggerOf(channel, to) })
  if (transactionId === undefined || status !== 'processed')
    throw new Error(error?.join(' ') ?? `The trigger returned “${status}”. Check that the workflow is active.`)
  return transactionId
}

async function createOnce(workflow: FirstSend['workflow']): Promise<void> {
  const { workflows } = await api('GET /v2/workflows', { query: { query: workflow.workflowId, limit: 10 } })
  if (workflows.some(({ workflowId }) => workflowId === workflow.workflowId)) return
  await api('POST /v2/workflows', { body: workflow })
}

export interface Arrival {
  runId: string | undefined
  /** Why no message will arrive. */
  trouble: string | undefined
  message: { subject: string | null; text: string; html: string | null; to: string[] } | undefined
}

/** Polls until the message has arrived or has failed. */
export const arrival = (channel: FirstChannel, transactionId: string, subscriberId: string) =>
  queryOptions({
    queryKey: inEnvironment('arrival', channel, transactionId),
    queryFn: () => findArrival(channel, transactionId, subscriberId),
    refetchInterval: ({ state }) => (state.data?.message || state.data?.trouble ? false : 500),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })

async function findArrival(channel: FirstChannel, transactionId: string, subscriberId: string): Promise<Arrival> {
  const { data } = await api('GET /v1/notifications', { query: { transactionId: [transactionId], limit: 1 } })
  const run = data[0]
  const message = await findMessage(channel, transactionId, subscriberId)
  const failed = run?.jobs.find(({ status }) => status === 'failed' || status === 'skipped' || status === 'canceled')
  const reasons = failed?.executionDetails.map(({ detail }) => detail) ?? []
  const trouble = message || !failed ? undefined : (reasons.at(-1) ?? 'The step did not run.')
  return { runId: run?._id, trouble, message }
}

async function findMessage(
  channel: FirstChannel,
  transactionId: string,
  subscriberId: string,
): Promise<Arrival['message']> {
  if (channel !== 'in_app') {
    const { data } = await api('GET /v1/sandbox/messages', { query: { transactionId, channel, limit: 1 } })
    if (!data[0]) return undefined
    const whole = await api('GET /v1/sandbox/messages/{messageId}', { path: { messageId: data[0].id } })
    return { subject: whole.subject, text: whole.text ?? '', html: whole.html, to: whole.to }
  }
  const { data } = await api('GET /v1/messages', { query: { transactionId: [transactionId], channel, limit: 1 } })
  if (!data[0]) return undefined
  const inbox = await api('GET /v2/subscribers/{subscriberId}/notifications', { path: { subscriberId } })
  const item = inbox.data.find(({ id }) => id === data[0]?._id)
  return item && { subject: item.subject ?? null, text: item.body, html: null, to: [subscriberId] }
}
