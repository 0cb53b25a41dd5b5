// Transaction ids: each stands for one trigger of its environment.

/**
 * The trigger of a transaction, as a condition on `events e`. An id that we generated is `txn_` and the trigger's own id, and has
 * no row in `transactions`.
 */
export const isOfTransaction = (environmentId: string, transactionId: string): string => `
  e.environment_id = ${environmentId} AND e.transaction_id = ${transactionId} AND e.id = coalesce((
    SELECT t.event_id FROM transactions t
    WHERE t.environment_id = ${environmentId} AND t.transaction_id = ${transactionId}), substr(${transactionId}, 5))`
