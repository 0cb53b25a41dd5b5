// What the pages remember of the API, how long, and the one hook through which they change something.
import { MutationCache, QueryCache, QueryClient, type UseMutationResult, useMutation } from '@tanstack/react-query'
import { toast } from 'sonner'
import { ApiError, inEnvironment } from './client.ts'

/** Told of every refusal that means the session is over; main.tsx leads to the sign-in page then. */
let onSignedOut: () => void = () => undefined
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

function noticeEndOfSession(error: Error): void {
  if (error instanceof ApiError && ['not_signed_in', 'missing_authorization'].includes(error.code)) onSignedOut()
}

export const cache = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEndOfSession }),
  mutationCache: new MutationCache({ onError: noticeEndOfSession }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one however often it is asked for; only what may pass is tried again.
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { retry: false },
  },
})

/** Of a refusal that is about fields, what is wrong with them: where there is no form, nobody else would say it. */
const sentenceOf = (error: Error): string =>
  (error instanceof ApiError && Object.values(error.errors).flat().join(' ')) || error.message

interface Action<Input, Output> {
  do: (input: Input) => Promise<Output>
  /** Resources whose lists and records are asked for again: the second parts of their cache keys. */
  refresh?: readonly string[]
  /** A toast for success. */
  done?: string | ((output: Output, input: Input) => string)
  /** A way back, offered in that toast. */
  undo?: (output: Output, input: Input) => Promise<unknown>
  /** Forms show refusals at their fields; everything else in a toast. */
  quiet?: boolean
  onDone?: (output: Output, input: Input) => void
}

/**
 * Changes something: shows progress by `isPending`, refreshes what is named, and says what happened.
 *
 *     const remove = useAction({
 *       do: (id: string) => api('DELETE /v2/topics/{topicKey}', { path: { topicKey: id } }),
 *       refresh: ['topics'],
 *       done: 'Topic deleted',
 *     })
 *     <Button pending={remove.isPending} onClick={() => remove.mutate(topic.key)}>Delete</Button>
 */
export function useAction<Input = void, Output = unknown>(
  action: Action<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const { refresh = [], quiet = false } = action
  const refreshAll = () =>
    Promise.all(refresh.map((resource) => cache.invalidateQueries({ queryKey: inEnvironment(resource) })))
  return useMutation({
    mutationFn: action.do,
    onSuccess: async (output, input) => {
      const { done, undo } = action
      action.onDone?.(output, input)
      if (done !== undefined) {
        const text = typeof done === 'string' ? done : done(output, input)
        toast.success(
          text,
          undo ? { action: { label: 'Undo', onClick: () => void takeBack(undo, output, input) } } : {},
        )
      }
      await refreshAll()
    },
    onError: (error) => {
      if (!quiet) toast.error(sentenceOf(error))
    },
  })

  async function takeBack(undo: NonNullable<typeof action.undo>, output: Output, input: Input) {
    try {
      await undo(output, input)
      await refreshAll()
    } catch (error) {
      toast.error(sentenceOf(error as Error))
    }
  }
}
