// All controls of a step, rendered from its schemas. Each component of the uiSchema has a control here; a field without one gets
// a basic control by its type, so that every field can be edited.
import { type ComponentType, Fragment } from 'react'
import type { WorkflowStep } from '../../../api/workflows.ts'
import { fieldsOf, type SchemaField } from '../draft/schema-fields.ts'
import { useStep } from '../draft/step-context.ts'
import { AskControls } from './ask.tsx'
import { AwaitedControls } from './awaited.tsx'
import { FieldSwitch, SchemaControl } from './basic.tsx'
import { ArmsControl } from './branch.tsx'
import { ConditionControl } from './condition.tsx'
import { Fold } from './fold.tsx'
import {
  AddressControl,
  AnswerSchemaControl,
  ContinueControl,
  EnforceControl,
  HeadersControl,
  RequestBodyControl,
  RetryControl,
  TimeoutControl,
} from './http.tsx'
import {
  ActionControl,
  AvatarControl,
  BodyControl,
  DataControl,
  EmailBodyControl,
  LayoutControl,
  RedirectControl,
  SenderControl,
  SubjectControl,
} from './message.tsx'
import { StartWorkflowControls } from './start-workflow.tsx'
import { UpdateSubscriberControls } from './update-subscriber.tsx'
import {
  DelayControls,
  DigestControls,
  FieldsControl,
  KeepControl,
  MaxEventsControl,
  OrderControl,
  ThrottleControls,
} from './wait.tsx'

type Place = 'main' | 'more' | 'condition'
interface Entry {
  place: Place
  Control: ComponentType<{ field: SchemaField }>
}

const main = (Control: Entry['Control']): Entry => ({ place: 'main', Control })
const more = (Control: Entry['Control']): Entry => ({ place: 'more', Control })
/** Rendered inside another control. */
const within: Entry = main(() => null)

/** By component, or by kind and name if the uiSchema has none. In page order. */
const controls: Record<string, Entry> = {
  TEXT_INLINE_LABEL: main(SubjectControl),
  IN_APP_PRIMARY_SUBJECT: main(SubjectControl),
  PUSH_SUBJECT: main(SubjectControl),
  IN_APP_BODY: main(BodyControl),
  SMS_BODY: main(BodyControl),
  CHAT_BODY: main(BodyControl),
  PUSH_BODY: main(BodyControl),
  EMAIL_EDITOR_SELECT: within,
  LAYOUT_SELECT: main(LayoutControl),
  EMAIL_BODY: main(EmailBodyControl),
  IN_APP_AVATAR: main(AvatarControl),
  IN_APP_BUTTON_DROPDOWN: main(ActionControl),
  URL_TEXT_BOX: main(RedirectControl),

  BRANCH_ARMS: main(ArmsControl),
  WAIT_FOR: main(AwaitedControls),
  ASK: main(AskControls),
  START_WORKFLOW: main(StartWorkflowControls),
  UPDATE_SUBSCRIBER: main(UpdateSubscriberControls),

  DIGEST_TYPE: main(DigestControls),
  DIGEST_AMOUNT: within,
  DIGEST_UNIT: within,
  DIGEST_CRON: within,
  DIGEST_KEY: within,
  'digest.lookBackWindow': within,
  'digest.window': within,
  'digest.maxWindow': within,
  'digest.flushFirst': within,
  'digest.maxEvents': more(MaxEventsControl),
  'digest.order': more(OrderControl),
  'digest.keep': more(KeepControl),
  'digest.fields': more(FieldsControl),
  DELAY_TYPE: main(DelayControls),
  DELAY_AMOUNT: within,
  DELAY_UNIT: within,
  DELAY_CRON: within,
  DELAY_DYNAMIC_KEY: within,
  EXTEND_TO_SCHEDULE: within,
  THROTTLE_TYPE: main(ThrottleControls),
  THROTTLE_WINDOW: within,
  THROTTLE_UNIT: within,
  THROTTLE_DYNAMIC_KEY: within,
  THROTTLE_THRESHOLD: within,
  THROTTLE_KEY: within,

  DESTINATION_METHOD: main(AddressControl),
  DESTINATION_URL: within,
  DESTINATION_HEADERS: main(HeadersControl),
  DESTINATION_BODY: main(RequestBodyControl),
  DESTINATION_RESPONSE_BODY_SCHEMA: more(AnswerSchemaControl),
  DESTINATION_ENFORCE_SCHEMA_VALIDATION: more(EnforceControl),
  'http_request.retry': more(RetryControl),
  DESTINATION_CONTINUE_ON_FAILURE: more(ContinueControl),
  DESTINATION_TIMEOUT: more(TimeoutControl),

  'email.from': more(SenderControl),
  DATA: more(DataControl),
  DISABLE_SANITIZATION_SWITCH: more(SanitizationControl),
  IN_APP_DISABLE_SANITIZATION_SWITCH: more(SanitizationControl),
  QUERY_EDITOR: { place: 'condition', Control: ConditionControl },
}
const order = Object.keys(controls)

function SanitizationControl({ field }: { field: SchemaField }) {
  return (
    <FieldSwitch
      field={field}
      label="Leave HTML as it is"
      hint="Otherwise scripts and unknown tags are removed. Use it only for content you trust."
    />
  )
}

export function StepControls({ controls: declared }: { controls: WorkflowStep['controls'] }) {
  const { step, issues } = useStep()
  const keyOf = ({ component, name }: SchemaField) => component ?? `${step.type}.${name}`
  const placeOf = (field: SchemaField) => (controls[keyOf(field)] ? order.indexOf(keyOf(field)) : order.length)
  const fields = fieldsOf(declared).toSorted((a, b) => placeOf(a) - placeOf(b))
  const at = (place: Place) => fields.filter((field) => (controls[keyOf(field)]?.place ?? 'main') === place)
  const draw = (field: SchemaField) => {
    const Control = controls[keyOf(field)]?.Control ?? SchemaControl
    return (
      <Fragment key={field.name}>
        <Control field={field} />
      </Fragment>
    )
  }
  const drawn = at('main')
  const rest = at('more')
  const count = rest.filter(({ name }) =>
    issues.some(({ path }) => path === name || path?.startsWith(`${name}.`)),
  ).length
  return (
    <div className="space-y-4">
      {drawn.length === 0 && step.type !== 'exit' && <p className="text-sm text-muted">This step has no controls.</p>}
      {drawn.map(draw)}
      {rest.length > 0 && (
        <Fold title="More" count={count}>
          <div className="space-y-4">{rest.map(draw)}</div>
        </Fold>
      )}
      {at('condition').map(draw)}
    </div>
  )
}
