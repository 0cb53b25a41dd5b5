// The fields of a workflow in words: for notes on what a colleague changed, and for the comparison of two versions.

const workflowFields = new Map(
  Object.entries({
    name: 'Name',
    description: 'Description',
    tags: 'Tags',
    active: 'Active switch',
    severity: 'Severity',
    validatePayload: 'Payload check',
    payloadSchema: 'Payload schema',
    isTranslationEnabled: 'Translations switch',
    messageClass: 'Class',
    consentCategory: 'Category',
    preferences: 'Preferences',
    tracking: 'Tracking of emails',
    journey: 'Settings of runs',
  }),
)

const stepFields = new Map(
  Object.entries({
    name: 'Name',
    type: 'Kind',
    active: 'Active switch',
    shouldStopOnFail: 'Failure setting',
    onUnknown: 'Send-twice setting',
    replyCallback: 'Reply address',
  }),
)

const controls = new Map(
  Object.entries({
    skip: 'Condition',
    layoutId: 'Layout',
    avatar: 'Picture',
    primaryAction: 'Primary button',
    secondaryAction: 'Secondary button',
    redirect: 'Link',
    from: 'Sender',
    url: 'Address',
    digestKey: 'Grouping',
    throttleKey: 'Counting',
    lookBackWindow: 'Look-back time',
    type: 'Timing',
    disableOutputSanitization: 'HTML setting',
    for: 'What it waits for',
    lookBack: 'Look-back time',
    default: 'Default arm',
  }),
)

export const fieldName = (field: string): string => workflowFields.get(field) ?? inWords(field)
export const stepFieldName = (field: string): string => stepFields.get(field) ?? inWords(field)
export const controlName = (control: string): string => controls.get(control) ?? inWords(control)

/** `extendToSchedule` is "Extend to schedule". */
function inWords(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
