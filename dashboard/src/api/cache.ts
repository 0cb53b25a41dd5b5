// The query cache, and the one hook through which pages change data.
import { MutationCache, QueryCache, QueryClient, type UseMutationResult, useMutation } from '@tanstack/react-query'
import { toast } from 'sonner'
import { ApiError, inEnvironment } from './client.ts'

/** Called when the server says the session has ended; main.tsx then opens the sign-in page. */
let onSignedOut: () => void = () => undefined
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

/** Called when the server says that a second factor has to be set up first; main.tsx then opens that page. */
let onFactorRequired: () => void = () => undefined
export function whenFactorIsRequired(listener: () => void): void {
  onFactorRequired = listener
}

function noticeEndOfSession(error: Error): void {
  if (error instanceof ApiError && error.code === 'second_factor_required') onFactorRequired()
  if (error instanceof ApiError && ['not_signed_in', 'missing_authorization'].includes(error.code)) onSignedOut()
}

export const cache = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEndOfSession }),
  mutationCache: new MutationCache({ onError: noticeEndOfSession }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Retry only what may succeed later: no connection, or a server error. A 4xx answer stays the same.
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { retry: false },
  },
})

/** A validation error lists its field errors: outside a form nothing else shows them. */
const sentenceOf = (error: Error): string =>
  (error instanceof ApiError && Object.values(error.errors).flat().join(' ')) || error.message

interface Action<Input, Output> {
  do: (input: Input) => Promise<Output>
  /** Resources to refetch: the second part of their cache keys. */
  refresh?: readonly string[]
  /** The success toast. */
  done?: string | ((output: Output, input: Input) => string)
  /** Adds an Undo button to that toast. */
  undo?: (output: Output, input: Input) => Promise<unknown>
  /** Set by forms, which show errors at their fields. Otherwise errors appear in a toast. */
  quiet?: boolean
  onDone?: (output: Output, input: Input) => void
}

/**
 * Changes data: shows progress with `isPending`, refetches the named resources, and shows a toast.
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
        toast.success(text, undo ? { action: { label: 'Undo', onClick: () => void runUndo(undo, output, input) } } : {})
      }
      await refreshAll()
    },
    onError: (error) => {
      if (!quiet) toast.error(sentenceOf(error))
    },
  })

  async function runUndo(undo: NonNullable<typeof action.undo>, output: Output, input: Input) {
    try {
      await undo(output, input)
      await refreshAll()
    } catch (error) {
      toast.error(sentenceOf(error as Error))
    }
  }
}
