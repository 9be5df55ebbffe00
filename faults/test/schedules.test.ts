import { testScenarios } from './scenario-suite.ts'

testScenarios('f16', 'f17')
