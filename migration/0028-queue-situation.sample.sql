update queue_plan set situation = '{"underTest": 0, "firstPending": [], "slotsTaken": 0, "frozenAt": null}';
