// The list of step kinds: one line each.

import type { StepKind, StepType } from '../contract/kind.ts'
import { ask } from './ask.ts'
import { branch } from './branch.ts'
import { chat } from './chat.ts'
import { custom } from './custom.ts'
import { delay } from './delay.ts'
import { digest } from './digest.ts'
import { email } from './email.ts'
import { exit } from './exit.ts'
import { httpRequest } from './http-request.ts'
import { inApp } from './in-app.ts'
import { push } from './push.ts'
import { sms } from './sms.ts'
import { startWorkflow } from './start-workflow.ts'
import { throttle } from './throttle.ts'
import { updateSubscriber } from './update-subscriber.ts'
import { waitForEvent } from './wait-for-event.ts'

export const stepKinds: Record<StepType, StepKind> = {
  in_app: inApp,
  email,
  sms,
  chat,
  push,
  digest,
  delay,
  throttle,
  custom,
  http_request: httpRequest,
  branch,
  exit,
  wait_for_event: waitForEvent,
  ask,
  start_workflow: startWorkflow,
  update_subscriber: updateSubscriber,
}
