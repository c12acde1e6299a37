"""Thresholds and guard sets, re-executed over the recorded tape: what each setting would have done."""
