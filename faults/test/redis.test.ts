import { findRedis } from '@millrace/redis/testing'
import { test } from 'vitest'
import { testScenarios } from './scenario-suite.ts'

if (findRedis() === undefined)
  test.skip('f26 is skipped: no redis-server or valkey-server was found (MILLRACE_REDIS_BIN)')
else testScenarios('f26')
