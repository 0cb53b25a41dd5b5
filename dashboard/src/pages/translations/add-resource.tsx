import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { layouts } from '../../api/layouts.ts'
import { type Resource, translations } from '../../api/translations.ts'
import { workflows } from '../../api/workflows.ts'
import { Button } from '../../ui/base/button.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'

interface AddResourceProps {
  open: boolean
  onClose: () => void
  onAdded: (resource: Resource) => void
}

export const AddResource = ({ open, ...rest }: AddResourceProps) => (
  <Dialog
    open={open}
    onClose={rest.onClose}
    title="Add a translation"
    description="Its templates can then use texts by key. Existing content stays as it is."
  >
    {open && <AddForm {...rest} />}
  </Dialog>
)

function AddForm({ onClose, onAdded }: Omit<AddResourceProps, 'open'>) {
  const [resourceType, setType] = useState<Resource['resourceType']>('workflow')
  const [resourceId, setId] = useState('')
  const [typed, setTyped] = useState('')
  const isWorkflow = resourceType === 'workflow'
  const ofWorkflows = useQuery({ ...workflows.list({ limit: 20, query: typed }), enabled: isWorkflow })
  const ofLayouts = useQuery({ ...layouts.list({ limit: 20, query: typed }), enabled: !isWorkflow })
  const enable = useAction({
    do: () => translations.enable({ resourceType, resourceId }),
    refresh: ['translations', 'workflows', 'layouts'],
    onDone: () => onAdded({ resourceType, resourceId }),
  })
  const options = isWorkflow
    ? (ofWorkflows.data?.workflows ?? []).map(({ workflowId, name }) => ({ value: workflowId, label: name }))
    : (ofLayouts.data?.layouts ?? []).map(({ layoutId, name }) => ({ value: layoutId, label: name }))
  return (
    <div className="space-y-4">
      <Segments
        label="Kind"
        value={resourceType}
        onValue={(type) => {
          setType(type)
          setId('')
        }}
        options={[
          { value: 'workflow', label: 'Workflow' },
          { value: 'layout', label: 'Layout' },
        ]}
      />
      <FieldFrame label={isWorkflow ? 'Workflow' : 'Layout'}>
        {(control) => (
          <Combobox
            {...control}
            value={resourceId || undefined}
            onValue={setId}
            onSearch={setTyped}
            isLoading={ofWorkflows.isFetching || ofLayouts.isFetching}
            options={options.map((option) => ({ ...option, hint: option.value }))}
          />
        )}
      </FieldFrame>
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          disabled={resourceId === ''}
          pending={enable.isPending}
          onClick={() => enable.mutate()}
        >
          Add translation
        </Button>
      </DialogFooter>
    </div>
  )
}
