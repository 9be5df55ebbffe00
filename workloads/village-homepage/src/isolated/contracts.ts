// The contracts of jobs that isolated handlers enqueue. The worker checks and writes them by its own.
import { cdnContracts } from '../cdn/contracts.ts'
import { readConfig } from '../config/read.ts'
import { villageContracts } from '../contracts.ts'

let own: ReturnType<typeof read> | undefined

function read() {
  const contracts = villageContracts(readConfig())
  return { ...contracts, ...cdnContracts(contracts) }
}

export function ownContracts() {
  own ??= read()
  return own
}
