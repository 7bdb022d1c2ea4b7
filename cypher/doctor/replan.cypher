// name: doctor.replan
// mode: write
// params:
// returns:
// Remedy: count again what the indexes hold, and discard the plans made with the old numbers.
CALL db.prepareForReplanning()
