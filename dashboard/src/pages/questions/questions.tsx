// Questions that runs have put to people, and their answers.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { CircleHelp } from 'lucide-react'
import { type Question, questions } from '../../api/questions.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { QuestionState } from '../../ui/domain/question-parts.tsx'
import { answerOf, stateWords } from '../../ui/domain/question-words.ts'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { FilterBar, FilterChip, TextFilterChip } from '../../ui/list/filters.tsx'
import { NothingYet } from '../../ui/list/new.tsx'
import { type Column, Paging, Table, timeColumn } from '../../ui/list/table.tsx'
import { manyOf, text, useUrlState } from '../../ui/list/url-state.ts'
import { QuestionSheet } from './question-sheet.tsx'

const schema = {
  state: manyOf(['open', 'answered', 'expired', 'canceled']),
  ...{ subscriberId: text(), workflowId: text(), transactionId: text() },
  ...{ after: text(), before: text() },
}

const columns: Array<Column<Question>> = [
  { id: 'question', header: 'Question', cell: ({ question }) => <span dir="auto">{question}</span> },
  { id: 'state', header: 'State', width: 'w-28', cell: (question) => <QuestionState question={question} /> },
  { id: 'answer', header: 'Answer', from: 'md', cell: (question) => <span dir="auto">{answerOf(question)}</span> },
  { id: 'workflow', header: 'Workflow', from: 'lg', cell: ({ workflowId }) => <code>{workflowId}</code> },
  timeColumn('Asked', 'createdAt', { from: 'sm' }),
]

export function Page() {
  const [filters, setFilters] = useUrlState(schema)
  const { questionId } = useParams({ strict: false })
  const navigate = useNavigate()
  const { subscriberId, workflowId, transactionId, after, before } = filters
  const [state] = filters.state
  const list = useQuery(
    questions.list({
      ...{ limit: 50, after, before },
      ...(state ? { state } : {}),
      ...(subscriberId ? { subscriberId } : {}),
      ...(workflowId ? { workflowId } : {}),
      ...(transactionId ? { transactionId } : {}),
    }),
  )
  const isFiltered = state !== undefined || subscriberId !== '' || workflowId !== '' || transactionId !== ''
  return (
    <Frame title="Questions" flush>
      <FilterBar>
        <FilterChip
          label="State"
          single
          options={Object.entries(stateWords).map(([value, label]) => ({ value, label }))}
          value={filters.state}
          onValue={(value) => setFilters({ state: value as typeof filters.state })}
        />
        <TextFilterChip
          label="Subscriber"
          value={subscriberId}
          onValue={(next) => setFilters({ subscriberId: next })}
        />
        <TextFilterChip label="Workflow" mono value={workflowId} onValue={(next) => setFilters({ workflowId: next })} />
        <TextFilterChip
          label="Transaction"
          mono
          value={transactionId}
          onValue={(next) => setFilters({ transactionId: next })}
        />
      </FilterBar>
      <Table
        label="Questions"
        columns={columns}
        rows={list.data?.data}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/questions/{-$questionId}', params: { questionId: id } })}
        selected={questionId}
        query={list}
        empty={
          isFiltered || after || before ? (
            <EmptyState
              icon={<CircleHelp />}
              title="No question matches"
              action={
                <Button onClick={() => setFilters({ state: [], subscriberId: '', workflowId: '', transactionId: '' })}>
                  Clear filters
                </Button>
              }
            />
          ) : (
            <NoQuestions />
          )
        }
        footer={<Paging page={list.data} onPage={setFilters} noun="questions" />}
      />
      <QuestionSheet
        questionId={questionId}
        onClose={() =>
          void navigate({ to: '/questions/{-$questionId}', params: { questionId: undefined }, search: true })
        }
      />
    </Frame>
  )
}

const NoQuestions = () => (
  <NothingYet
    icon={<CircleHelp />}
    title="No questions yet"
    request={{
      method: 'POST',
      path: '/v2/workflows',
      body: {
        ...{ name: 'Refund', workflowId: 'refund', active: true },
        steps: [
          {
            ...{ name: 'Approve', stepId: 'approve', type: 'ask' },
            controlValues: {
              question: 'Refund {{payload.amount}}?',
              answers: [
                { id: 'yes', label: 'Approve' },
                { id: 'no', label: 'Reject' },
              ],
              ...{ amount: 1, unit: 'hours' },
            },
          },
        ],
      },
    }}
  >
    A step of a workflow can ask people and wait for the answer. Add one in the editor, or make a workflow with it:
  </NothingYet>
)
