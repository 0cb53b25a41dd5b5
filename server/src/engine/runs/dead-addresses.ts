// Addresses that a provider called dead when a step wrote to them: they are added to the suppression list in the transaction that
// ends the call, and count for the brakes of commercial workflows.
import { comparedAddress } from '../../db/core/addresses.ts'
import type { Transaction } from '../../db/core/transaction.ts'
import { type BadMail, countBadMail } from '../../db/queries/brakes.ts'
import { addSuppressions, ofAddress } from '../../db/queries/suppressions.ts'
import { isCommercial } from '../../steps/delivery/consent-links.ts'
import { recipientIn } from './question-jobs.ts'
import type { RunState } from './run-state.ts'

export async function storeDead({ tx }: Transaction, runs: RunState[], now: Date): Promise<void> {
  const found = runs.flatMap((run) => run.effects.dead.map((dead) => ({ run, ...dead })))
  for (const environmentId of [...new Set(found.map(({ run }) => run.environment.id))].sort()) {
    const own = found.filter(({ run }) => run.environment.id === environmentId)
    await addSuppressions(
      tx,
      environmentId,
      own.map(({ run, job, channel, address, messageId, integrationId = null }) => ({
        ...{ channel, ...ofAddress(comparedAddress(channel, address)), source: 'provider', integrationId, messageId },
        ...{ reason: 'hard_bounce', scope: 'all', subscriberId: recipientIn(run, job).subscriber_id },
      })),
      now,
    )
    const bad = own
      .filter(({ run, channel, isOnly }) => channel === 'email' && isOnly && isCommercial(run))
      .map(({ run, messageId }): BadMail => {
        return { workflowId: run.workflow.id, messageId, cause: 'bounces', sentAt: now, isRefused: true }
      })
    await countBadMail(tx, environmentId, bad, now)
  }
}
