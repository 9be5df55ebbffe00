// The services of compose.yaml.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { root } from '../../../../test/support/document.ts'

export interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly environment: readonly string[]
  readonly container_name?: string
  readonly stop_grace_period?: string
}

export const { services } = parse(readFileSync(`${root}workloads/lipas/compose.yaml`, 'utf8'), { merge: true }) as {
  services: Readonly<Record<'migrate' | 'backend' | 'lipas-worker', Service>>
}
