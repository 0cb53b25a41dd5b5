// The dialog to create a workflow: a name and a template.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { environments } from '../../api/environments.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { cn } from '../../ui/base/class-names.ts'
import { identifierOf } from '../../ui/base/identifier.ts'
import { StepIcons } from '../../ui/domain/step-kind.tsx'
import { MultiCombobox } from '../../ui/form/combobox.tsx'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'
import type { Template } from './draft/template-parts.ts'
import { templates } from './draft/templates.ts'
import { TemplatePicture } from './template-picture.tsx'

interface CreateWorkflowProps {
  /** The preselected template; undefined closes the dialog. */
  from: string | undefined
  onClose: () => void
}

export function CreateWorkflow({ from, onClose }: CreateWorkflowProps) {
  return (
    <Dialog open={from !== undefined} onClose={onClose} title="New workflow" size="lg">
      {from !== undefined && <CreateForm key={from} from={from} onClose={onClose} />}
    </Dialog>
  )
}

function CreateForm({ from, onClose }: { from: string; onClose: () => void }) {
  const navigate = useNavigate()
  const environment = useEnvironment()
  const tags = useQuery(environments.tags(environment._id))
  const first = templates.find(({ id }) => id === from) ?? (templates[0] as Template)
  const [template, setTemplate] = useState(first)
  const [isNamed, setNamed] = useState(false)
  const [hasOwnId, setOwnId] = useState(false)
  const initial = {
    name: first.suggestion,
    workflowId: identifierOf(first.suggestion),
    tags: first.workflow.tags ?? [],
  }
  const form = useForm({
    initial,
    submit: ({ name, workflowId, tags }) => {
      const { workflow } = template
      const id = workflowId || identifierOf(name) || 'workflow'
      return api('POST /v2/workflows', { body: { ...workflow, name, workflowId: id, tags, __source: 'dashboard' } })
    },
    refresh: ['workflows'],
    onDone: ({ workflowId, steps }) => {
      const search = steps[0] ? { step: steps[0].stepId } : {}
      void navigate({ to: '/workflows/$workflowId', params: { workflowId }, search })
    },
  })
  const choose = (next: Template) => {
    setTemplate(next)
    form.set({ tags: next.workflow.tags ?? [] })
    if (isNamed) return
    form.set({ name: next.suggestion, ...(hasOwnId ? {} : { workflowId: identifierOf(next.suggestion) }) })
  }
  return (
    <Form form={form}>
      <fieldset>
        <legend className="mb-1.5 text-sm font-medium">Start from</legend>
        <div className="grid max-h-100 gap-2 overflow-y-auto rounded-surface border bg-raised p-2 sm:grid-cols-2 lg:grid-cols-3">
          {templates.map((one) => (
            <button
              key={one.id}
              type="button"
              aria-pressed={one.id === template.id}
              onClick={() => choose(one)}
              className={cn(
                'flex flex-col items-start gap-1 rounded-surface border bg-page p-3 text-left transition-colors duration-120 hover:bg-hover',
                'aria-pressed:border-accent aria-pressed:bg-accent/8',
              )}
            >
              <TemplatePicture template={one} />
              <span className="flex w-full items-center justify-between gap-2 text-sm font-medium">
                {one.name}
                <StepIcons kinds={one.workflow.steps.map(({ type }) => type)} />
              </span>
              <span className="text-xs text-muted">{one.description}</span>
            </button>
          ))}
        </div>
      </fieldset>
      <Field form={form} name="name" label="Name">
        {(control) => (
          <Input
            {...control}
            autoFocus
            placeholder="Order shipped"
            maxLength={128}
            onValue={(name) => {
              setNamed(true)
              form.set({ name, ...(hasOwnId ? {} : { workflowId: identifierOf(name) }) })
            }}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field form={form} name="workflowId" label="Identifier" hint="Triggers use it. It cannot be changed later.">
          {(control) => (
            <Input
              {...control}
              className="font-mono text-code"
              spellCheck={false}
              placeholder="order-shipped"
              onValue={(workflowId) => {
                setOwnId(workflowId !== '')
                form.set({ workflowId })
              }}
            />
          )}
        </Field>
        <Field form={form} name="tags" label="Tags" optional>
          {({ name: _, ...control }) => (
            <MultiCombobox
              {...control}
              allowNew
              placeholder="No tags"
              options={(tags.data ?? []).map(({ name }) => ({ value: name, label: name }))}
            />
          )}
        </Field>
      </div>
      <FormFooter form={form} onClose={onClose} disabled={form.values.name.trim() === ''}>
        Create workflow
      </FormFooter>
    </Form>
  )
}
