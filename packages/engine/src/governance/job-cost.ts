// How much of a rate a job uses up.
import type { JobContract } from '../contract/job.ts'
import type { KeyRing } from '../contract/key-ring.ts'
import { openStored } from '../contract/sealed.ts'

/** By its payload as it is stored, of whichever workflow it is. A cost that cannot be told is that of any job: what the payload holds is not ours to judge here. */
export function jobCost(
  contract: JobContract | undefined,
  keys: KeyRing | undefined,
  { tenant, payload: stored }: { tenant: string | null; payload: unknown },
): number {
  if (contract?.costOf === undefined) return 1
  try {
    const payload = openStored(keys, { contract, part: 'payload', owner: { tenant } }, stored)
    const cost = contract.costOf(payload as never)
    return Number.isFinite(cost) && cost >= 0 ? cost : 1
  } catch {
    return 1
  }
}
